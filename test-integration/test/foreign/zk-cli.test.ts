import type { Stat, ZooKeeper } from '@zk/client'
import { expect, test } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { describeForeign, type Tests, type TestWorld, type World } from './world.ts'

const anywhere: Tests<World> = (world) => {
  test('creates, lists, reads, writes and deletes nodes', async () => {
    const { root, zkCli, zk } = await world()
    const cli = await zkCli()
    expect(await cli.run('ls /')).toEqual(['[]'])
    expect(await cli.run('create /a first')).toEqual(['Created /a'])
    expect(await cli.run('create -s /a/s- second')).toEqual(['Created /a/s-0000000000'])
    expect(await cli.run('create -e /a/e')).toEqual(['Created /a/e'])
    expect(await cli.run('create -s -e /a/se- x')).toEqual(['Created /a/se-0000000002'])
    expect(await cli.run('create -c /a/c')).toEqual(['Created /a/c'])
    expect(await cli.run('create /a/c/d "two words"')).toEqual(['Created /a/c/d'])

    expect(await cli.run('ls /a')).toEqual(['[c, e, s-0000000000, se-0000000002]'])
    expect(await cli.run('ls -s /a')).toEqual(['[c, e, s-0000000000, se-0000000002]', ...(await printed(zk, '/a'))])
    const children = ['/a/c', '/a/e', '/a/s-0000000000', '/a/se-0000000002']
    expect(await cli.run('ls -R /a')).toEqual(['/a', ...children, '/a/c/d'])
    expect(await cli.run('get /a/c/d')).toEqual(['two words'])
    expect(await cli.run('create /a/c/ÿ größer')).toEqual(['Created /a/c/ÿ'])
    expect(await cli.run('get /a/c/ÿ')).toEqual(['größer'])
    expect(await cli.run('delete /a/c/ÿ')).toEqual([])
    expect(await cli.run('get /a/e')).toEqual(['null'])
    expect(await cli.run('get -s /a/se-0000000002')).toEqual(['x', ...(await printed(zk, '/a/se-0000000002'))])
    expect(await cli.run('getAllChildrenNumber /a')).toEqual(['5'])
    // This command ignores the root in the connect string.
    const [ephemerals = ''] = await cli.run(`getEphemerals ${root}/a`)
    expect(ephemerals.slice(1, -1).split(', ').sort()).toEqual([`${root}/a/e`, `${root}/a/se-0000000002`])

    expect(await cli.run('set /a 1')).toEqual([])
    expect(await cli.run('set -s -v 1 /a 2')).toEqual(await printed(zk, '/a'))
    expect(await cli.run('stat /a')).toEqual(await printed(zk, '/a'))
    expect((await zk.getData('/a')).stat).toMatchObject({ version: 2, dataLength: 1, numChildren: 4 })
    expect(await cli.run('sync /a')).toEqual(['Sync is OK'])
    expect(await cli.run('delete -v 0 /a/s-0000000000')).toEqual([])
    expect(await cli.run('delete /a/e')).toEqual([])
    expect(await cli.run('ls /a')).toEqual(['[c, se-0000000002]'])
    expect(await cli.run('deleteall /a')).toEqual([])
    expect(await cli.run('ls /')).toEqual(['[]'])
  })

  test('prints the errors for what it may not do', async () => {
    const { zkCli } = await world()
    const cli = await zkCli()
    await cli.run('create /a')
    await cli.run('create /a/b')
    await cli.run('create -e /a/e')
    expect(await cli.run('create /a')).toEqual(['Node already exists: /a'])
    expect(await cli.run('create /no/node')).toEqual(['Node does not exist: /no/node'])
    expect(await cli.run('create /a/e/child')).toEqual(['Ephemerals cannot have children: /a/e/child'])
    expect(await cli.run('create /a/ slash')).toEqual(['Path must not end with / character'])
    for (const command of ['get', 'ls', 'ls -R', 'stat', 'delete', 'deleteall', 'getAcl']) {
      expect(await cli.run(`${command} /no`)).toEqual(['Node does not exist: /no'])
    }
    expect(await cli.run('set -v 3 /a x')).toEqual(['version No is not valid : /a'])
    expect(await cli.run('delete -v 3 /a/b')).toEqual(['version No is not valid : /a/b'])
    expect(await cli.run('delete /a')).toEqual(['Node not empty: /a'])
  })

  test('guards nodes by ACLs', async () => {
    const { zkCli } = await world()
    const [cli, other] = await Promise.all([zkCli(), zkCli()])
    expect(await cli.run('create /a mine')).toEqual(['Created /a'])
    expect(await cli.run('getAcl /a')).toEqual(["'world,'anyone", ': cdrwa'])
    expect(await cli.run('setAcl /a auth::cdrwa')).toEqual(['Acl is not valid : /a'])
    expect(await cli.run('addauth digest user:password')).toEqual([])
    expect(await cli.run('setAcl /a auth::cdrwa')).toEqual([])
    expect(await cli.run('getAcl /a')).toEqual(["'digest,'user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=", ': cdrwa'])
    expect(await cli.run('get /a')).toEqual(['mine'])
    await other.caughtUp()
    for (const command of ['get /a', 'set /a x', 'ls /a', 'create /a/b', 'getAcl /a']) {
      const path = command.split(' ')[1]
      expect(await other.run(command), command).toEqual([`Insufficient permission : ${path}`])
    }
    expect(await cli.run('setAcl -v 1 /a world:anyone:r')).toEqual([])
    await other.caughtUp()
    expect(await other.run('get /a')).toEqual(['mine'])
    expect(await other.run('set /a x')).toEqual(['Insufficient permission : /a'])
    expect(await other.run('create /b x ip:127.0.0.1/8:cdrwa,digest:user:x:r')).toEqual(['Created /b'])
    expect(await other.run('whoami')).toEqual(['Auth scheme: User', expect.stringMatching(/^ip: /)])
  })

  test('prints the events of its watches, and none of removed ones', async () => {
    const { zkCli, zk } = await world()
    const cli = await zkCli()
    const seen = (type: string, path: string) => ({ state: 'SyncConnected', type, path })
    await zk.create('/a', '0')
    await zk.create('/gone')
    await cli.caughtUp()
    expect(await cli.run('get -w /a')).toEqual(['0'])
    expect(await cli.run('ls -w /a')).toEqual(['[]'])
    expect(await cli.run('stat -w /gone')).toEqual(await printed(zk, '/gone'))
    await zk.setData('/a', '1')
    expect(await cli.nextEvent()).toEqual(seen('NodeDataChanged', '/a'))
    await zk.create('/a/b')
    expect(await cli.nextEvent()).toEqual(seen('NodeChildrenChanged', '/a'))
    await zk.delete('/gone')
    expect(await cli.nextEvent()).toEqual(seen('NodeDeleted', '/gone'))

    expect(await cli.run('get -w /a')).toEqual(['1'])
    expect(await cli.run('removewatches /a -d')).toEqual([])
    expect(await cli.nextEvent()).toEqual(seen('DataWatchRemoved', '/a'))
    expect(await cli.run('removewatches /a')).toEqual(['KeeperErrorCode = No such watcher for /a'])
    await zk.setData('/a', '2')
    await cli.run('sync /a')
    // A leader answers a sync before it has applied what a follower may have reported.
    await cli.caughtUp()
    expect(await cli.run('get /a')).toEqual(['2'])
    await cli.run('get -w /a')
    await zk.delete('/a/b')
    await zk.delete('/a')
    // The first event since.
    expect(await cli.nextEvent()).toEqual(seen('NodeDeleted', '/a'))
  })

  test('closes its session, and connects again', async () => {
    const { zkCli, zk } = await world()
    const cli = await zkCli()
    expect(await cli.run('create -e /ephemeral')).toEqual(['Created /ephemeral'])
    await caughtUp(zk)
    const { stat, changed } = await zk.existsAndWatch('/ephemeral')
    expect(stat).toBeDefined()
    expect(await cli.run('close')).toEqual([])
    expect((await changed).type).toBe('NodeDeleted')
    expect(await cli.run('ls /')).toContain('Not connected')
    await cli.connect()
    expect(await cli.run('ls /')).toEqual(['[]'])
    expect(await cli.end()).toBe('zkCli has ended with 0')
  })

  test('reports that its session has expired after it stood still for too long', async () => {
    const { zkCli, zk } = await world()
    const cli = await zkCli({ sessionTimeout: 2_000 })
    expect(await cli.run('create -e /ephemeral')).toEqual(['Created /ephemeral'])
    await caughtUp(zk)
    const { changed } = await zk.existsAndWatch('/ephemeral')
    await cli.stop()
    expect((await changed).type).toBe('NodeDeleted')
    await cli.goOn()
    expect(await cli.nextEvent()).toMatchObject({ state: 'Disconnected', type: 'None' })
    expect(await cli.nextEvent()).toMatchObject({ state: 'Expired', type: 'None' })
    expect(await cli.run('ls /')).toContain('Not connected')
    await cli.connect()
    expect(await cli.run('ls /')).toEqual(['[]'])
  })
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('goes on in the same session when its server is killed', async () => {
    const { zkCli, zk, ensemble } = await world()
    const cli = await zkCli()
    expect(await cli.run('create -e /ephemeral')).toEqual(['Created /ephemeral'])
    const { ephemeralOwner } = (await caughtUp(zk), await zk.exists('/ephemeral'))!
    const server = ensemble.members.find(({ name }) => name === ensemble.sessions.get(ephemeralOwner)?.member)!
    server.kill()
    expect(await cli.nextEvent()).toMatchObject({ state: 'Disconnected', type: 'None' })
    expect(await cli.nextEvent()).toMatchObject({ state: 'SyncConnected', type: 'None' })
    expect(await cli.run('get -s /ephemeral')).toContain(`ephemeralOwner = 0x${ephemeralOwner.toString(16)}`)
    expect(await cli.run('create /new')).toEqual(['Created /new'])
  })

  test('reports that a test has expired its session, and that a reply was lost', async () => {
    const { zkCli, zk, root, ensemble } = await world()
    const cli = await zkCli()
    const lost = ensemble.faults.loseReply({ op: 'create', path: root })
    expect(await cli.run('create -e /a')).toEqual(['KeeperErrorCode = ConnectionLoss for /a'])
    expect(lost.count).toBe(1)
    expect(await cli.nextEvent()).toMatchObject({ state: 'Disconnected', type: 'None' })
    expect(await cli.nextEvent()).toMatchObject({ state: 'SyncConnected', type: 'None' })
    expect(await cli.run('create -e /a')).toEqual(['Node already exists: /a'])

    await caughtUp(zk)
    ensemble.sessions.expire((await zk.exists('/a'))!.ephemeralOwner)
    expect(await cli.nextEvent()).toMatchObject({ state: 'Disconnected', type: 'None' })
    expect(await cli.nextEvent()).toMatchObject({ state: 'Expired', type: 'None' })
    expect(await cli.run('ls /')).toContain('Not connected')
  })
}

describeForeign('zkCli', 'a TestEnsemble', { anywhere, atTestEnsemble })

/** A node's Stat as zkCli prints it. */
async function printed(zk: ZooKeeper, path: string): Promise<readonly string[]> {
  await caughtUp(zk)
  const stat = await zk.exists(path)
  if (stat === undefined) throw new Error(`There is no node ${path}`)
  const hex = (field: keyof Stat): string => `0x${BigInt.asUintN(64, BigInt(stat[field])).toString(16)}`
  return [
    `cZxid = ${hex('czxid')}`,
    `ctime = ${javaDate(stat.ctime)}`,
    `mZxid = ${hex('mzxid')}`,
    `mtime = ${javaDate(stat.mtime)}`,
    `pZxid = ${hex('pzxid')}`,
    `cversion = ${stat.cversion}`,
    `dataVersion = ${stat.version}`,
    `aclVersion = ${stat.aversion}`,
    `ephemeralOwner = ${hex('ephemeralOwner')}`,
    `dataLength = ${stat.dataLength}`,
    `numChildren = ${stat.numChildren}`,
  ]
}

/** In the format of Java's Date, in a container, where the time zone is always GMT. */
function javaDate(time: number): string {
  const [, weekday, day, month, year, clock] = /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(
    new Date(time).toUTCString(),
  )!
  return `${weekday} ${month} ${day} ${clock} GMT ${year}`
}

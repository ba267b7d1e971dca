// The client's newer operations, both on a real ensemble and on the one of @zk/testing.
import { connect, deleteRecursive, op, walk, type ZooKeeper } from '@zk/client'
import { TestEnsemble } from '@zk/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Ensemble, until } from '../src/ensemble/index.ts'
import { settings } from '../src/scenario/index.ts'
import { newClient, refusal } from './support/clients.ts'
import { shared } from './support/shared-ensemble.ts'

type NewClient = () => Promise<ZooKeeper>

const { tickTime, containerCheckInterval, extendedTypesEnabled } = settings
const description = shared?.description

const real: NewClient = () => newClient(Ensemble.attach(description!))

const inProcess: NewClient = async () => {
  const ensemble = await TestEnsemble.start({ tickTime, containerCheckInterval, extendedTypesEnabled })
  onTestFinished(() => ensemble.close())
  const zk = await connect(`${ensemble.connectString}/app`)
  onTestFinished(() => zk.close())
  await zk.ensureContainer('/')
  return zk
}

describe.skipIf(description === undefined)('the real ensemble', () => claims(real))
describe('the ensemble of @zk/testing', () => claims(inProcess))

const text = (data: Uint8Array): string => new TextDecoder().decode(data)
const ttlMode = 'PERSISTENT_WITH_TTL'

function claims(open: NewClient): void {
  test('ZooKeeper.create makes a node with a TTL, which is deleted after that', async () => {
    const zk = await open()
    const { path, stat } = await zk.create('/short', 'x', { mode: ttlMode, ttl: 1 })
    expect([path, stat.ephemeralOwner, stat.dataLength]).toEqual(['/short', 0n, 1])
    const [long] = await zk.multi([op.create('/n-', '', { mode: 'PERSISTENT_SEQUENTIAL_WITH_TTL', ttl: 600_000 })])
    expect(long.path).toBe('/n-0000000001')
    await until('the deletion of the node', async () => (await zk.exists('/short')) === undefined)
    expect(await zk.exists(long.path)).toMatchObject({ ephemeralOwner: 0n })
  })

  test('ZooKeeper.create with parents creates missing parents', async () => {
    const zk = await open()
    const { path } = await zk.create('/a/b/n-', 'x', { mode: 'EPHEMERAL_SEQUENTIAL', parents: true })
    expect(path).toBe('/a/b/n-0000000000')
    expect((await zk.create('/a/b/n-', '', { mode: 'EPHEMERAL_SEQUENTIAL', parents: true })).path).toContain('1')
    expect(await refusal(zk.create(`${path}/child`, '', { parents: true }))).toMatchObject({
      code: 'NoChildrenForEphemerals',
    })
    expect(await refusal(zk.create(`${path}/child/child`, '', { parents: true }))).toMatchObject({
      code: 'NoChildrenForEphemerals',
    })
    // They are containers.
    await zk.delete(path)
    await zk.delete('/a/b/n-0000000001')
    await until('the deletion of the containers', async () => (await zk.exists('/a')) === undefined)
  })

  test('ZooKeeper.multiRead reads all parts at one moment, each with its own result', async () => {
    const zk = await open()
    await zk.create('/a', 'data')
    await zk.create('/a/b')
    const [data, missing, names] = await zk.multiRead([op.getData('/a'), op.getData('/none'), op.getChildren('/a')])
    expect(data.value?.stat).toEqual(await zk.exists('/a'))
    expect(text(data.value!.data)).toBe('data')
    expect(missing.error).toMatchObject({ code: 'NoNode', path: '/none', index: 1, op: 'multiRead' })
    expect(names.value).toEqual(['b'])
    expect(await zk.multiRead([])).toEqual([])
  })

  test('ZooKeeper.whoAmI returns names, and no secrets', async () => {
    const zk = await open()
    const [address, ...none] = await zk.whoAmI()
    expect([address?.authScheme, none]).toEqual(['ip', []])
    await zk.addAuth('digest', 'alice:secret')
    expect((await zk.whoAmI()).filter(({ authScheme }) => authScheme !== 'ip')).toEqual([
      { authScheme: 'digest', user: 'alice' },
    ])
  })

  test('ZooKeeper.checkWatches returns whether the server has such a watch', async () => {
    const zk = await open()
    await zk.create('/a')
    expect(await zk.checkWatches('/a')).toBe(false)
    const { unwatch } = await zk.getDataAndWatch('/a')
    expect(await zk.checkWatches('/a')).toBe(true)
    expect(await zk.checkWatches('/a', 'Data')).toBe(true)
    expect(await zk.checkWatches('/a', 'Children')).toBe(false)
    await unwatch()
    expect(await zk.checkWatches('/a')).toBe(false)
  })

  test('ZooKeeper.getConfig returns the servers, whatever the chroot', async () => {
    const zk = await open()
    const { config, stat } = await zk.getConfig()
    expect(config.servers.map(({ id, role }) => [id, role])).toEqual([1, 2, 3].map((id) => [id, 'participant']))
    expect(config.servers.map(({ addresses }) => addresses.length)).toEqual([1, 1, 1])
    expect(config.servers[0]?.addresses[0]).toMatchObject({ quorumPort: 2888, electionPort: 3888 })
    expect([config.version, stat.version]).toEqual([0n, -1])
    expect(await refusal(zk.reconfig({ leaving: [3] }))).toMatchObject({ code: 'ReconfigDisabled', op: 'reconfig' })
  })

  test('deleteRecursive deletes the nodes that walk yields', async () => {
    const zk = await open()
    for (let i = 0; i < 15; i++) {
      await zk.create(`/tree/n${i}`, '', { parents: true })
      await Promise.all(Array.from({ length: 10 }, (_, j) => zk.create(`/tree/n${i}/${j}`)))
    }
    const paths: string[] = []
    for await (const { path } of walk(zk, '/tree')) paths.push(path)
    expect(paths).toHaveLength(166)
    expect(paths).toEqual(paths.toSorted())
    expect(await deleteRecursive(zk, '/tree')).toBe(166)
    expect(await zk.exists('/tree')).toBeUndefined()
    for (const path of ['/x', '/x/y']) await zk.create(path)
    expect(await deleteRecursive(zk, '/', { contentsOnly: true })).toBe(2)
    expect((await zk.getChildren('/')).children).toEqual([])
  })
}

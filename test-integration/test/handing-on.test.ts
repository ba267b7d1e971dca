// One session of several clients: one detaches it, the next resumes it; several chroots on it. At real servers.
import { connect, Lock } from '@zk/recipes'
import { expect, test } from 'vitest'
import { describeEnsemble } from './support/describe-ensemble.ts'

describeEnsemble('A session that another client resumes', (ensemble) => {
  test('ZooKeeper.detach leaves the ephemeral nodes to the client that resumes the session', async () => {
    const first = await connect(ensemble.connectString)
    await first.create('/handed-on', '', { mode: 'EPHEMERAL' })
    const session = await first.detach()
    await using next = await connect(ensemble.connectString, { session })
    expect(next.session.id).toBe(session.id)
    expect((await next.exists('/handed-on'))?.ephemeralOwner).toBe(session.id)
    await using other = await connect(ensemble.connectString)
    const { changed } = await other.existsAndWatch('/handed-on')
    await next.close()
    expect((await changed).type).toBe('NodeDeleted')
  })

  test('ZooKeeper.detach leaves no contender in the queue, at any stage of its acquire', async () => {
    await using other = await connect(ensemble.connectString)
    const inLine = async () => {
      await other.sync('/left')
      return (await other.getChildren('/left')).children
    }
    await using ahead = await new Lock(other, '/left').acquire()
    for (let round = 0; round < 10; round++) {
      const first = await connect(ensemble.connectString)
      const elsewhere = await new Lock(first, '/left/elsewhere').acquire()
      const aborting = new AbortController()
      const lock = new Lock(first, '/left')
      const acquiring = Promise.allSettled([lock.acquire(), lock.acquire({ signal: aborting.signal })])
      // In odd rounds their creates are in progress.
      if (round % 2 === 0) await first.sync('/left')
      aborting.abort()
      const session = await first.detach()
      expect((await acquiring).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(elsewhere.signal.reason).toMatchObject({ reason: 'Closed' })
      expect((await inLine()).filter((name) => name !== 'elsewhere')).toHaveLength(1)
      await using next = await connect(ensemble.connectString, { session })
      expect(await next.getEphemerals('/left')).toEqual([])
    }
    expect(ahead.isHeld()).toBe(true)
  })

  test('ZooKeeper.withChroot shares the session: a lock on one path is visible on the other', async () => {
    await using zk = await connect(ensemble.connectString)
    await zk.ensureContainer('/teams/red')
    const red = zk.withChroot('/teams/red')
    await using held = await new Lock(red, '/lock').acquire()
    const [name] = (await zk.getChildren('/teams/red/lock')).children
    expect(held.path).toBe(`/lock/${name}`)
    expect((await zk.exists(`/teams/red/lock/${name}`))?.ephemeralOwner).toBe(zk.session.id)
  })
})

describeEnsemble('A list of servers that changes', (ensemble) => {
  test('ZooKeeper.updateServers moves to the one server that is left in the list, in the same session', async () => {
    await using zk = await connect(ensemble.connectString)
    const { session } = zk
    for (const { address } of ensemble.nodes) {
      zk.updateServers(address)
      // It leaves its server when the other one has passed the trial.
      await expect.poll(() => session.connection?.server).toBe(address)
      await zk.sync('/')
      expect(zk.session).toBe(session)
    }
    const calls = Array.from({ length: 100 }, () => zk.create('/moved-', '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    zk.updateServers(ensemble.nodes[0]!.address)
    const created = await Promise.all(calls)
    expect(new Set(created.map(({ path }) => path)).size).toBe(100)
  })

  test('ZooKeeper.followServers reads what real servers write into /zookeeper/config', async () => {
    const zk = await connect(ensemble.connectString)
    const text = new TextDecoder().decode((await zk.getData('/zookeeper/config')).data)
    expect(text).toMatch(/^server\.1=.*;.*2181$/m)
    // These are addresses of the containers' network, which we cannot reach, so the client is not used any further.
    await zk.followServers()
    void zk.close()
  })
})

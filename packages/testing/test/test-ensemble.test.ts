import { connect, KeeperError } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { TestEnsemble } from '../src/index.ts'

const quick = { tickTime: 100, electionTime: 20 } as const

test('three members serve at once, one of them leads', async () => {
  await using ensemble = await TestEnsemble.start()
  expect(ensemble.members.map(({ name }) => name)).toEqual(['zk1', 'zk2', 'zk3'])
  expect(ensemble.connectString.split(',')).toEqual(ensemble.members.map(({ address }) => address))
  expect(ensemble.leader!.role).toBe('leader')
  expect(ensemble.followers).toHaveLength(2)
  for (const { address, name } of ensemble.members) {
    const zk = await connect(address)
    await zk.create(`/${name}`)
    await zk.close()
  }
  expect(ensemble.nodes.get('/')!.children).toEqual(['zk1', 'zk2', 'zk3', 'zookeeper'])
})

test('a lost reply: it is done, and the client does not know', async () => {
  await using ensemble = await TestEnsemble.start()
  const zk = await connect(ensemble.connectString)
  const rule = ensemble.faults.loseReply({ op: 'create', path: '/a' })
  const error = await zk.create('/a').catch((error: unknown) => error)
  expect(KeeperError.is(error, 'ConnectionLoss') && error.outcomeUnknown).toBe(true)
  await rule.fired
  expect(await zk.exists('/a')).toBeDefined()
  await zk.close()
})

test('an expired session: its nodes go, and its client learns it', async () => {
  await using ensemble = await TestEnsemble.start()
  const zk = await connect(ensemble.connectString)
  const { session } = zk
  await zk.create('/mine', '', { mode: 'EPHEMERAL' })
  ensemble.sessions.expire(session.id)
  await expect.poll(() => session.signal.aborted, { timeout: 5_000 }).toBe(true)
  expect(ensemble.nodes.get('/mine')).toBeUndefined()
  await zk.close()
})

test('a killed leader: another one leads, and sessions live on', async () => {
  await using ensemble = await TestEnsemble.start(quick)
  const zk = await connect(ensemble.connectString)
  const { id } = zk.session
  await zk.create('/mine', '', { mode: 'EPHEMERAL' })
  const old = ensemble.leader!
  old.kill()
  await ensemble.serving()
  expect(ensemble.leader!.name).not.toBe(old.name)
  expect(await zk.exists('/mine')).toBeDefined()
  expect(zk.session.id).toBe(id)
  old.restart()
  await ensemble.serving()
  expect(old.role).toBe('follower')
  await expect.poll(() => old.node('/mine')).toBeDefined()
  await zk.close()
})

describe('serving', () => {
  test('waits until all members that are up serve', async () => {
    await using ensemble = await TestEnsemble.start(quick)
    ensemble.leader!.kill()
    expect(ensemble.leader).toBeUndefined()
    await ensemble.serving()
    expect(ensemble.leader).toBeDefined()
  })

  test('after a partition resolves with the new leader, without the member that is cut off', async () => {
    await using ensemble = await TestEnsemble.start({ ...quick, syncLimit: 2 })
    const old = ensemble.leader!
    ensemble.network.isolate(old)
    const leader = await ensemble.serving()
    expect(leader.name).not.toBe(old.name)
    expect(ensemble.leader!.name).toBe(leader.name)
    const zk = await connect(leader.address)
    await zk.create('/a')
    expect(old.node('/a')).toBeUndefined()
    ensemble.network.heal()
    await ensemble.serving()
    expect(old.role).toBe('follower')
    await zk.close()
  })

  test('rejects when that takes too long, and reports the state of each member', async () => {
    await using ensemble = await TestEnsemble.start(quick)
    for (const { name } of ensemble.followers) ensemble.member(name).kill()
    await expect.poll(() => ensemble.leader).toBeUndefined()
    await expect(ensemble.serving({ timeout: 50 })).rejects.toThrow(/not all members serve after 50 ms: zk1 is /)
  })
})

test('members have the ports they are given', async () => {
  const before = await TestEnsemble.start({ members: ['a', 'b'] })
  const { ports } = before
  expect(before.members.map(({ port }) => `127.0.0.1:${port}`).join()).toBe(before.connectString)
  expect(ports).toEqual(before.members.map(({ port }) => port))
  await before.close()
  await using ensemble = await TestEnsemble.start({ members: ['a', 'b'], ports })
  expect(ensemble.connectString).toBe(before.connectString)
  await expect(TestEnsemble.start({ members: 3, ports: [0] })).rejects.toThrow(
    /ports must be as many as members: 3, not 1/,
  )
})

test('an address of version 6 is written with brackets', async () => {
  await using ensemble = await TestEnsemble.start({ members: 1, host: '::1' })
  const zk = await connect(ensemble.connectString)
  expect(ensemble.connectString).toMatch(/^\[::1\]:\d+$/)
  await zk.close()
})

test('the ensemble outlives clients that come and go in numbers', async () => {
  await using ensemble = await TestEnsemble.start()
  const clients = await Promise.all(Array.from({ length: 30 }, async () => connect(ensemble.connectString)))
  await Promise.all(clients.map(async (zk, index) => zk.create(`/n${index}`, '', { mode: 'EPHEMERAL' })))
  await Promise.all(clients.map(async (zk) => zk.close()))
  expect(ensemble.nodes.ephemerals()).toEqual([])
  expect(ensemble.sessions.list()).toEqual([])
  expect(ensemble.members.flatMap(({ connections }) => connections)).toEqual([])
})

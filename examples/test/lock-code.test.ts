// How to test your own code: the README of @zk/testing shows these tests.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, Lock, sleep } from '@zk/recipes'
import { TestEnsemble, TestServer, VirtualWorld } from '@zk/testing'
import { expect, test } from 'vitest'

test('the lock passes on when its holder’s session expires', async () => {
  await using ensemble = await TestEnsemble.start({ tickTime: 100 })
  await using one = await connect(ensemble.connectString)
  await using other = await connect(ensemble.connectString)
  const first = await new Lock(one, '/locks/report').acquire()
  ensemble.faults.loseReply({ op: 'create', path: '/locks/report' }) // of the next contender
  const next = new Lock(other, '/locks/report').acquire()
  await expect.poll(() => ensemble.nodes.get('/locks/report')?.children).toHaveLength(2)
  ensemble.sessions.expire(one.session.id)
  expect((await next).fencingToken).toBeGreaterThan(first.fencingToken)
})

test('the old leader follows the new one', async () => {
  await using ensemble = await TestEnsemble.start({ tickTime: 100 })
  const old = ensemble.leader!
  ensemble.network.isolate(old) // goes on answering pings and reads, for up to syncLimit
  const leader = await ensemble.serving() // the leader that the others have elected meanwhile
  expect(leader.name).not.toBe(old.name)
  ensemble.network.heal()
  await ensemble.serving() // the old one follows
  expect(old.role).toBe('follower')
})

type Loss = [how: string, reason: string, lose: (ensemble: TestEnsemble, session: bigint) => void]

test.each<Loss>([
  ['its session expires', 'SessionExpired', ({ sessions }, session) => sessions.expire(session)],
  ['another client deletes its node', 'NodeGone', ({ nodes }, session) => nodes.delete(nodes.ephemerals(session)[0]!)],
  ['no server answers any more', 'LeaseLost', ({ members }) => members.forEach((member) => member.freeze())],
])('a lock is lost when %s', async (_, reason, lose) => {
  await using ensemble = await TestEnsemble.start({ tickTime: 100 })
  await using zk = await connect(ensemble.connectString, { sessionTimeout: 1_000 })
  const held = await new Lock(zk, '/locks/report').acquire()
  lose(ensemble, zk.session.id)
  await expect.poll(() => held.signal.aborted, { timeout: 5_000 }).toBe(true)
  expect([held.isHeld(), held.signal.reason.code]).toEqual([false, reason])
})

test('a client with a chroot finds its nodes again after a restart', async () => {
  await using server = await TestServer.start()
  server.nodes.create('/app/orders')
  await using zk = await connect(`127.0.0.1:${server.port}/app`)
  const session = zk.session.id
  const lost = server.faults.loseRequest({ op: 'create', path: '/app/orders' }) // a path of the server
  await expect(zk.create('/orders/one')).rejects.toMatchObject({ outcomeUnknown: true }) // and of the client
  expect(lost.count).toBe(1)
  server.kill()
  server.restart()
  expect((await zk.getChildren('/orders')).children).toEqual([])
  expect(zk.session.id).toBe(session)
})

test('a session expires by itself when its client sends nothing', async () => {
  await using ensemble = await TestEnsemble.start({ tickTime: 100 })
  await using zk = await connect(ensemble.connectString, { sessionTimeout: 500 })
  await zk.create('/mine', '', { mode: 'EPHEMERAL' })
  const { session } = zk
  for (const member of ensemble.members) {
    member.refuse()
    for (const connection of member.connections) connection.halfOpen('requests')
  }
  await expect.poll(() => ensemble.nodes.get('/mine'), { timeout: 5_000 }).toBeUndefined()
  for (const member of ensemble.members) member.accept()
  await expect.poll(() => session.signal.reason?.code, { timeout: 5_000 }).toBe('SessionExpired')
})

test('a holder that is cut off learns in time that the lock is lost', async () => {
  const world = new VirtualWorld({ seed: 1, members: 3 })
  await world.run(async () => {
    await using zk = await connect(world.connectString, { runtime: world.runtime })
    const held = await new Lock(zk, '/locks/report').acquire()
    await sleep(zk.runtime, 600_000) // ten minutes, in a few milliseconds
    expect(held.isHeld()).toBe(true)
    world.network.cut({ process: world.runtime })
    await once(held.signal, 'abort')
    expect(world.ensemble.nodes.ephemerals()).toEqual([held.path]) // no other client can have it yet
  })
})

test('README of @zk/testing shows tests above', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const plain = (code: string) => code.replaceAll(/^ +/gm, '').trim()
  const [, ...shown] = Array.from(
    read('../../packages/testing/README.md').matchAll(/^```ts\n([^]*?)^```/gm),
    ([, code]) => plain(code!),
  )
  expect(shown).toHaveLength(3)
  const here = plain(read('lock-code.test.ts'))
  for (const code of shown) expect(here).toContain(code)
})

// How to test lock code of one's own: the README of @zk/testing shows these tests.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, Lock } from '@zk/recipes'
import { TestEnsemble, VirtualWorld } from '@zk/testing'
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

test('a holder that is cut off learns in time that the lock is lost', async () => {
  const world = new VirtualWorld({ seed: 1, members: 3 })
  await world.run(async () => {
    const zk = await connect(world.connectString, { runtime: world.runtime })
    const held = await new Lock(zk, '/locks/report').acquire()
    await world.elapse(600_000) // ten minutes, in some milliseconds
    expect(held.isHeld()).toBe(true)
    world.network.cut({ process: world.runtime })
    await once(held.signal, 'abort')
    expect(world.ensemble.nodes.ephemerals()).toEqual([held.path]) // nobody else can have it yet
  })
})

test('README of @zk/testing shows the tests above', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const shown = read('../../packages/testing/README.md').match(/^test\('[^]*?^}\)$/gm)
  expect(shown).toHaveLength(2)
  for (const each of shown!) expect(read('lock-code.test.ts')).toContain(each)
})

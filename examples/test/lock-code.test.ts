// How you test your own lock code: the README of @zk/testing shows this test.
import { readFileSync } from 'node:fs'
import { connect, Lock } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
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

test('README of @zk/testing shows the test above', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const [shown] = /^test\('the lock passes on[^]*?^}\)$/m.exec(read('../../packages/testing/README.md'))!
  expect(read('lock-code.test.ts')).toContain(shown)
})

import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import {
  LeaderElection,
  Lock,
  LockLostError,
  LockTimeoutError,
  type LossReason,
  PermitsError,
  Semaphore,
  SharedLock,
} from '../src/index.ts'
import { main } from './readme-example.ts'
import { Scene } from './support/scene.ts'

const sourceOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const readme = sourceOf('../README.md')

test('README shows the example that runs here', () => {
  const [, shown] = /```ts\n([^]*?)```/.exec(readme)!
  const [ran] = sourceOf('readme-example.ts').replace('../src/index.ts', '@zk/recipes').split('\nexport {')
  expect(shown).toBe(ran)
})

test('the example of README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const scene = new Scene({ members: 3 })
  await scene.done(main({ runtime: scene.world }))
  expect(log.mock.calls).toEqual([['/report-0000000001']])
  log.mockRestore()
  expect(scene.children('/app')).toEqual(['locks', 'report-0000000001'])
  expect(scene.ensemble.nodes.ephemerals()).toEqual([])
})

test('README names everything that can be acquired, and every way to lose it', () => {
  for (const { name } of [Lock, SharedLock, Semaphore, LeaderElection]) expect(readme).toContain(`new ${name}(zk, path`)
  expect(readme).toContain('new MultiLock(zk, paths')
  for (const { name } of [LockTimeoutError, LockLostError, PermitsError]) expect(readme).toContain(`\`${name}\``)
  const reasons: Record<LossReason, true> = {
    Released: true,
    Downgraded: true,
    LeaseLost: true,
    Disconnected: true,
    SessionExpired: true,
    Closed: true,
    NodeGone: true,
  }
  for (const reason of Object.keys(reasons)) expect(readme).toContain(`\`${reason}\``)
})

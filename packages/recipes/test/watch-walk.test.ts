// The client's watches, one-shot and persistent, in each other's way. (Here, because this package's tests have both the
// client and @zk/testing.) A failing seed is named: put it in place of the first one to see it again.
import { expect, test } from 'vitest'
import { WatchWalk } from './support/watch-walk.ts'

const FIRST_SEED = 1
const HISTORIES = 30

test.each<readonly ['one' | 'several', string]>([
  ['one', '3.8: one kind of watch for each path and connection'],
  ['several', '3.9: all kinds side by side'],
])(
  'ZooKeeper tells each of its watchers all that happens and nothing else, at servers with %s (%s; V01, V06, V08)',
  { timeout: 60_000 },
  async (watchModes) => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
      const walk = new WatchWalk(seed, { watchModes })
      try {
        await walk.play()
      } catch (error) {
        expect.fail(`seed ${seed}: ${String(error)}\n${walk.steps.slice(-40).join('\n')}`)
      }
    }
  },
)

// The client's watches, one-shot and persistent, in each other's way. (Here, because this package's tests have both the
// client and @zk/testing.) A failing seed is named: put it in place of the first one to see it again.
import { expect, test } from 'vitest'
import { CacheWalk } from '../support/cache-walk.ts'
import { WatchWalk } from '../support/watch-walk.ts'

const FIRST_SEED = 1
const HISTORIES = Number(process.env['ZK_WALK_SEEDS'] ?? 15)

const servers = [
  ['one', '3.8: one kind of watch for each path and connection'],
  ['several', '3.9: all kinds side by side'],
] as const

test.each(servers)(
  'ZooKeeper delivers to each of its watchers all its events and nothing else, at servers with %s (%s; V01, V06, V08)',
  async (watchModes, _) => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++)
      await play(seed, new WatchWalk(seed, { watchModes }))
  },
)

test.each(servers)(
  'ZooKeeper loses nothing that a Gap does not report, at servers with %s (%s; I14, V02, V06)',
  async (watchModes, _) => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++)
      await play(seed, new CacheWalk(seed, { watchModes }))
  },
)

async function play(seed: number, walk: WatchWalk | CacheWalk): Promise<void> {
  try {
    await walk.play()
  } catch (error) {
    expect.fail(`seed ${seed}: ${String(error)}\n${walk.steps.slice(-40).join('\n')}`)
  }
}

// MultiLocks of overlapping paths, in different orders, beside plain locks of ours and mutexes of Curator, while servers are killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Acquirable, type Held, Lock, MultiLock } from '@zk/recipes'
import { expect, test } from 'vitest'
import { until } from '../../src/ensemble/index.ts'
import { machineTime, outOfOrder, overlaps, type Turn } from '../../src/history/index.ts'
import { connected, describeForeign, type Tests, type World } from './world.ts'

const TURNS = 15
/** Every failover counts, in ms: a hold that is lost, and a session that is found again. */
const AT_MOST = 180_000
const PATHS = ['/a', '/b', '/c'] as const

/** What each of our contenders takes, one turn after the other. */
const orders: readonly (readonly string[])[] = [
  ['/a', '/b', '/c'],
  ['/c', '/b', '/a'],
  ['/b', '/a'],
  ['/c', '/b'],
  ['/b'],
]

const anywhere: Tests<World> = (world) => {
  test(
    'MultiLock takes turns with MultiLocks in other orders, with Lock and with InterProcessMutex, while servers are killed',
    { timeout: AT_MOST },
    async () => {
      const { servers, curator, zk, root } = await world()
      for (const path of [...PATHS, '/count']) await zk.create(path, '0')
      const theirs = await curator()
      const foreign = theirs.call<[string, string, string][]>('takeTurns', '/b', '/count', TURNS)
      let all = 0
      let killed = 0
      /** By their paths. */
      const turns = new Map<string, Turn[]>(PATHS.map((path) => [path, []]))
      const contend = async (paths: readonly string[], index: number) => {
        const [first, other] = paths
        const lock: Acquirable<Held> = other === undefined ? new Lock(zk, first!) : new MultiLock(zk, paths)
        for (let turn = 0; turn < TURNS; turn++) {
          const held = await lock.acquire()
          const from = machineTime()
          await sleep(2)
          const end = machineTime()
          if (held.isHeld()) {
            for (const path of paths) {
              turns.get(path)!.push({ contender: `ours ${index}`, mode: 'exclusive', token: held.fencingToken, from, until: end }) // prettier-ignore
            }
          }
          await held.release()
          const at = zk.session.connection?.server
          if (++all % 25 !== 0 || at === undefined) continue
          await servers.mend()
          await servers.kill(at)
          killed++
        }
      }
      await Promise.all(orders.map(contend))
      for (const [token, from, end] of await foreign) {
        turns.get('/b')!.push({ contender: 'Curator', mode: 'exclusive', token: BigInt(token), from: Number(from) / 1e6, until: Number(end) / 1e6 }) // prettier-ignore
      }
      for (const each of turns.values()) {
        expect(overlaps(each), root).toEqual([])
        expect(outOfOrder(each), root).toEqual([])
      }
      // A turn is missing only where its hold was lost.
      expect(turns.get('/b')!.length).toBeGreaterThan((orders.length + 1) * TURNS - 2 * killed - 1)
      expect(killed).toBeGreaterThan(1)
      const left = async () => (await Promise.all(PATHS.map((path) => connected(() => zk.getChildren(path))))).flatMap(({ children }) => children) // prettier-ignore
      await until('the queues to be empty', async () => (await left()).length === 0)
      console.info(`MultiLock: ${[...turns.values()].flat().length} turns on 3 paths, ${killed} servers killed`)
    },
  )
}

describeForeign('MultiLock beside Curator', 'real servers', { anywhere })

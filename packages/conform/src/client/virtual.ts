// Plays a situation with a JavaScript client in virtual time.
import { sleep } from '@zk/client'
import { VirtualWorld } from '@zk/testing'
import type { ClientLog } from './client-log.ts'
import { type Asked, prepare, work } from './exercise.ts'
import { administered, Play } from './play.ts'
import type { Situation } from './situations.ts'

/** The session timeout that the client asks for, in ms. */
const WISHED = 3_000

export type MakeClient = (runtime: VirtualWorld['runtime']) => Asked

export async function playVirtually(situation: Situation, makeClient: MakeClient, seed = 1): Promise<ClientLog> {
  const { maxSessionTimeout = 10_000, isBusy = false } = situation
  const world = new VirtualWorld({ seed, members: 3, tickTime: 250, maxSessionTimeout, ...administered })
  const { ensemble } = world
  const operator = world.addProcess()
  const play = new Play({ ensemble, now: () => world.now, elapse: (ms) => sleep(operator, ms), runtime: operator })
  return await world.run(async () => {
    const ask = makeClient(world.runtime)
    let isOver = false
    const exercise = async (): Promise<void> => {
      await prepare(ask, world.connectString, WISHED)
      for (let round = 1; isBusy && !isOver; round++) {
        await work(ask, round)
        await sleep(world.runtime, 50)
      }
    }
    const done = exercise().catch(() => {})
    await play.ready(true, 30_000)
    await play.play(situation.play)
    isOver = true
    await Promise.race([done, sleep(operator, 2 * WISHED)])
    play.ending(true)
    await Promise.race([ask({ op: 'close' }).catch(() => {}), sleep(operator, WISHED)])
    await sleep(operator, 100)
    return play.log()
  })
}

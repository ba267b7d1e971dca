// One cut: the server of some holders is cut off from the servers that can grant their locks to waiting contenders.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HeldWhile, LostErrorCode } from '@zk/recipes'
import type { Random } from '../../src/random.ts'
import type { Ensemble, EnsembleNode } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'
import { Contest, whileExpired } from './rivals.ts'

/** What one holder and its waiting contender observed. Times in ms, on the clock they share. */
export interface Sample {
  readonly heldWhile: HeldWhile
  /** For how long both held. */
  readonly overlap: number
  /** From the end of the hold, by its lease or by its loss, to the grant of the other one. */
  readonly margin: number
  /** Whether the hold ended before the cut, and the holder deleted its node: happens on an overloaded machine. */
  readonly wasEarly: boolean
  readonly reason: LostErrorCode | undefined
  /** Whether the holder still had its connection when it lost its hold: its pings were answered. */
  readonly wasConnected: boolean
}

export interface Cut {
  readonly random: Random
  /** One holder for each rule. */
  readonly holders: readonly HeldWhile[]
  /** The only server that the holders know. */
  readonly of: EnsembleNode
  /** The servers of the waiting contenders. */
  readonly at: readonly EnsembleNode[]
  /** A session timeout, in ms. */
  readonly sessionTimeout: () => number
  readonly strike: () => Promise<void>
}

/** Resolves when all waiting contenders were granted, the cut was mended, and all holders have noticed their loss. */
export async function cutOff(ensemble: Ensemble, { random, holders, of, at, ...cut }: Cut): Promise<Sample[]> {
  const { tickTime } = ensemble.description
  await using contest = await Contest.begin(at, 20 * tickTime)
  const pairs = await Promise.all(
    holders.map(async (heldWhile) => {
      const sessionTimeout = cut.sessionTimeout()
      const phase = random.below(sessionTimeout)
      const rivals = await contest.rivals('lock')
      return await whileExpired(async () => {
        const zk = await contest.holderAt(of, { kind: 'plain', sessionTimeout })
        // Rounds of confirmation begin with the grant: those of one cut are not in step.
        await sleep(phase)
        const held = await rivals.acquire(zk, { heldWhile })
        const pair = { heldWhile, rivals, wasConnected: false }
        held.signal.addEventListener('abort', () => (pair.wasConnected = zk.session.connection !== undefined))
        return pair
      })
    }),
  )
  await sleep(random.below(2 * tickTime))
  await cut.strike()
  const cutAt = machineTime()
  await contest.decided()
  await ensemble.mend()
  await contest.settled()
  return pairs.flatMap(({ heldWhile, rivals, wasConnected }) => {
    const { overlap, turn, margin, endedBy: reason } = rivals
    // On an overloaded machine a hold may end before another contender queues.
    if (turn === undefined || margin === undefined) return []
    return [{ heldWhile, overlap, margin, wasEarly: turn.heldUntil < cutAt, reason, wasConnected }]
  })
}

export function describeSamples(samples: readonly Sample[]): string {
  const lines = (['confirmed', 'connected', 'sessionAlive'] as const).flatMap((heldWhile) => {
    const those = samples.filter((sample) => sample.heldWhile === heldWhile)
    if (those.length === 0) return []
    const margins = those.map(({ margin }) => margin).sort((a, b) => a - b)
    const both = those.filter(({ overlap }) => overlap > 0).length
    const connected = those.filter(({ wasConnected }) => wasConnected).length
    const early = those.filter(({ wasEarly }) => wasEarly).length
    const reasons = [...new Set(those.map(({ reason }) => reason))].join(', ')
    const [least, middle, most] = [margins[0]!, margins[margins.length >> 1]!, margins.at(-1)!]
    return [
      `  ${heldWhile}: ${both} of ${those.length} held when another was granted; from its end to that grant ` +
        `${least.toFixed(0)} to ${most.toFixed(0)} ms, median ${middle.toFixed(0)}; ${early} lost before the cut; ` +
        `${connected} of them connected to the end; ${reasons}`,
    ]
  })
  return lines.join('\n')
}

// One cut: the server of some holders is cut off from the servers that can grant their locks to waiting contenders.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  connect,
  type Held,
  type HeldWhile,
  KeeperError,
  Lock,
  LockLostError,
  type LossReason,
  type ZooKeeper,
} from '@zk/recipes'
import type { Random } from '../../src/differential/random.ts'
import { type Ensemble, type EnsembleNode, until } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'

/** What one holder and its waiting contender observed. Times in ms, on the clock they share. */
export interface Sample {
  readonly heldWhile: HeldWhile
  readonly sessionTimeout: number
  /** What the holder's `isHeld` returned when the other one was granted. */
  readonly saidHeld: boolean
  /** Time from the end of the hold to the other one's grant; below 0 both held for that long. */
  readonly margin: number
  /** Measured from the end of the lease at its last reading: no timer can delay that. */
  readonly leaseMargin: number
  /** Whether it was lost before the cut, and deleted by its holder: happens on an overloaded machine. */
  readonly wasEarly: boolean
  readonly reason: LossReason
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
export async function cutOff(ensemble: Ensemble, cut: Cut): Promise<Sample[]> {
  const { random, of, at } = cut
  const longest = 20 * ensemble.description.tickTime
  await using root = await connect(random.pick(at).address, { sessionTimeout: longest })
  const { path: chroot } = await root.create('/cut-', '', { mode: 'PERSISTENT_SEQUENTIAL' })
  await using other = await connect(random.pick(at).address + chroot, { sessionTimeout: longest })
  const clients: ZooKeeper[] = []
  try {
    const pairs = await Promise.all(
      cut.holders.map(async (heldWhile, index) => {
        const sessionTimeout = cut.sessionTimeout()
        const phase = random.below(sessionTimeout)
        for (;;) {
          const zk = await connect(of.address + chroot, {
            sessionTimeout,
            connectTimeout: longest,
            renewSession: false,
          })
          clients.push(zk)
          // Rounds of confirmation begin with the grant: those of one cut are not in step.
          await sleep(phase)
          const held = await heldBy(zk, `/lock-${index}`, heldWhile)
          if (held !== undefined) return await Pair.begin(zk, held, other, `/lock-${index}`, heldWhile)
        }
      }),
    )
    await sleep(random.below(2 * ensemble.description.tickTime))
    await cut.strike()
    const cutAt = machineTime()
    await Promise.all(pairs.map(({ granted }) => granted))
    await ensemble.mend()
    return await Promise.all(pairs.map((pair) => pair.sample(cutAt)))
  } finally {
    await Promise.all(clients.map((zk) => zk.close()))
  }
}

/** undefined if its session expired before, on an overloaded machine. */
async function heldBy(zk: ZooKeeper, path: string, heldWhile: HeldWhile): Promise<Held | undefined> {
  try {
    return await new Lock(zk, path, { heldWhile }).acquire()
  } catch (error) {
    if (KeeperError.is(error, 'SessionExpired')) return undefined
    throw error
  }
}

class Pair {
  /** The time of the grant, and what the holder's `isHeld` returned then. */
  readonly granted: Promise<{ readonly at: number; readonly saidHeld: boolean }>
  readonly #holder: ZooKeeper
  readonly #held: Held
  readonly #heldWhile: HeldWhile
  #leaseEnd = Infinity
  #lost: { readonly at: number; readonly wasConnected: boolean } | undefined

  static async begin(
    holder: ZooKeeper,
    held: Held,
    other: ZooKeeper,
    path: string,
    heldWhile: HeldWhile,
  ): Promise<Pair> {
    return await new Promise((resolve, reject) => {
      const waits = new Lock(other, path).acquire({ onQueued: () => resolve(pair) })
      const pair = new Pair(holder, held, heldWhile, waits)
      // At once, if the holder has lost it already.
      waits.then(() => resolve(pair), reject)
    })
  }

  private constructor(holder: ZooKeeper, held: Held, heldWhile: HeldWhile, waits: Promise<Held>) {
    this.#holder = holder
    this.#held = held
    this.#heldWhile = heldWhile
    const asking = setInterval(() => {
      const at = machineTime()
      const remaining = held.leaseRemaining()
      if (remaining > 0) this.#leaseEnd = at + remaining
    }, 5)
    const lost = () => {
      clearInterval(asking)
      this.#lost ??= { at: machineTime(), wasConnected: holder.session.connection !== undefined }
    }
    held.signal.addEventListener('abort', lost, { once: true })
    this.granted = waits.then(() => ({ at: machineTime(), saidHeld: held.isHeld() }))
  }

  async sample(cutAt: number): Promise<Sample> {
    const { at, saidHeld } = await this.granted
    // With `sessionAlive` a hold is lost when the client learns that its session has ended.
    await until('the holder to know', async () => !this.#held.isHeld(), { interval: 20 })
    const { reason } = this.#held.signal
    if (!LockLostError.is(reason)) throw reason
    return {
      heldWhile: this.#heldWhile,
      sessionTimeout: this.#holder.session.timeout,
      saidHeld,
      margin: at - this.#lost!.at,
      leaseMargin: at - this.#leaseEnd,
      wasEarly: this.#lost!.at < cutAt,
      reason: reason.reason,
      wasConnected: this.#lost!.wasConnected,
    }
  }
}

export function describeSamples(samples: readonly Sample[]): string {
  const lines = (['confirmed', 'connected', 'sessionAlive'] as const).flatMap((heldWhile) => {
    const those = samples.filter((sample) => sample.heldWhile === heldWhile)
    if (those.length === 0) return []
    const margins = those.map(({ margin }) => margin).sort((a, b) => a - b)
    const both = those.filter(({ saidHeld }) => saidHeld).length
    const connected = those.filter(({ wasConnected }) => wasConnected).length
    const reasons = [...new Set(those.map(({ reason }) => reason))].join(', ')
    const [least, middle, most] = [margins[0]!, margins[margins.length >> 1]!, margins.at(-1)!]
    const cut = those.filter(({ wasEarly }) => !wasEarly)
    const leaseMargin = Math.min(...cut.map(({ leaseMargin }) => leaseMargin))
    const byLease =
      heldWhile === 'confirmed'
        ? `, by the lease's own count at least ${leaseMargin.toFixed(0)} (${those.length - cut.length} lost before the cut)`
        : ''
    return [
      `  ${heldWhile}: ${both} of ${those.length} held when another was granted; from its end to that grant ` +
        `${least.toFixed(0)} to ${most.toFixed(0)} ms${byLease}, median ${middle.toFixed(0)}; ` +
        `${connected} of them connected to the end; ${reasons}`,
    ]
  })
  return lines.join('\n')
}

// Turns of what is held: how a process takes and logs one, and how the log is judged.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Acquirable, type Held, KeeperError, LostError } from '@zk/recipes'
import {
  type Entry,
  longestGap,
  machineTime,
  type Mode,
  outOfOrder,
  type Overlap,
  overlaps,
  permitsOf,
  turn,
  type Turn,
} from '../history/index.ts'
import { countsOf, type Log, sinceOf, type Stage, type Verdict } from './recipe.ts'

/** The time between two checks of `isHeld`, in ms. */
const ASKED_EVERY = 20
/** One in `oneIn` turns lasts up to `times` as long: long enough for the session to end during it. */
const LONG = { oneIn: 12, times: 25 }

/** The holds of one contender. */
export class Holder {
  readonly #stage: Stage
  readonly #log: Log<Entry>
  readonly #contender: string

  constructor(stage: Stage, log: Log<Entry>, contender: string) {
    this.#stage = stage
    this.#log = log
    this.#contender = contender
  }

  /** Acquires, holds for a while, and releases. */
  async takeTurn(mode: Mode, acquirable: Pick<Acquirable<Held>, 'acquire'>): Promise<void> {
    await this.hold(mode, await this.acquire(mode, acquirable))
  }

  async acquire<H extends Held>(mode: Mode, acquirable: Pick<Acquirable<H>, 'acquire'>): Promise<H> {
    this.#log({ contender: this.#contender, mode, what: 'asked', token: '' })
    return await acquirable.acquire()
  }

  async hold(mode: Mode, held: Held): Promise<void> {
    await this.ask(mode, held)
    this.ended(mode, held)
    // The loss is reported already. What remains of the node is deleted in the background.
    await held.release().catch(() => {})
  }

  /**
   * Checks during a turn whether it is held, and logs the results. It was held at least from the first positive check to the
   * last one, because a lost hold is never held again.
   */
  async ask(mode: Mode, held: Held): Promise<void> {
    const contender = this.#contender
    const token = String(held.fencingToken)
    if (!held.isHeld()) return
    this.#log({ contender, mode, what: 'gained', token, permits: permitsOf(held) })
    const { turn } = this.#stage
    const longest = Math.random() * LONG.oneIn < 1 ? turn * LONG.times : turn
    const end = machineTime() + Math.random() * longest
    for (;;) {
      const at = machineTime()
      if (!held.isHeld()) return
      this.#log({ contender, mode, what: 'held', token, at })
      if (at >= end) return
      await sleep(Math.min(ASKED_EVERY, end - at))
    }
  }

  ended(mode: Mode, held: Held, why = reasonOf(held.signal.reason)): void {
    this.#log({ contender: this.#contender, mode, what: 'ended', token: String(held.fencingToken), why })
  }
}

export function reasonOf(error: unknown): string {
  if (error === undefined) return 'finished'
  if (LostError.is(error)) return error.code
  return KeeperError.is(error) ? error.code : 'unknown'
}

/** What is the same for all that is held. `turnsOf` gives the lists of turns that exclude each other. */
export function judgeHolds(
  entries: readonly Entry[],
  excluding: (turns: readonly Turn[]) => readonly Turn[][] = (turns) => [[...turns]],
): Omit<Verdict, 'recipe'> {
  const turns = turnsByAnswers(entries)
  const lines = excluding(turns)
  const wanted = new Set(['finished', 'Downgraded'])
  const lost = entries.filter(({ what, why = '' }) => what === 'ended' && !wanted.has(why))
  const since = sinceOf(entries, 'asked')
  const waits = entries.filter(({ what }) => what === 'gained').map((entry) => entry.at - since.get(entry)!)
  return {
    done: turns.length,
    unit: 'grants',
    counts: countsOf(lost.map(({ why }) => `lost: ${why}`)),
    worst: {
      'hand-over': Math.max(0, ...lines.map(longestGap)),
      wait: waits.reduce((one, other) => Math.max(one, other), 0),
    },
    violations: lines.flatMap((line) => [
      ...overlaps(line).map((pair) => `held at once: ${pairText(pair)}`),
      ...outOfOrder(line).map((pair) => `tokens do not rise: ${pairText(pair)}`),
    ]),
  }
}

/** Each turn lasts from its grant to the last time at which its holder found that it still held. */
export function turnsByAnswers(entries: readonly Entry[]): Turn[] {
  // The mode is part of the key, because a writer that becomes a reader keeps its token.
  const keyOf = ({ mode, token }: Entry): string => `${mode} ${token}`
  const until = new Map<string, number>()
  for (const entry of entries) if (entry.what === 'held') until.set(keyOf(entry), entry.at)
  return entries
    .filter(({ what }) => what === 'gained')
    .map((entry) => turn(entry, Math.max(entry.at, until.get(keyOf(entry)) ?? entry.at)))
}

function pairText([earlier, later]: Overlap): string {
  return `${turnText(earlier)} and ${turnText(later)}`
}

export function turnText({ contender, mode, token, permits, from, until }: Turn): string {
  const what = permits === undefined ? mode : `permits ${permits.join(', ')}`
  return `${contender} (${what}, 0x${token.toString(16)}) ${from.toFixed(1)} to ${until.toFixed(1)}`
}

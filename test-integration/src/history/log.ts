// An append-only file that all contenders of a run write to, from their own processes.
import { appendFileSync, readFileSync } from 'node:fs'
import { machineTime } from './machine-time.ts'
import type { Mode, Turn } from './turns.ts'

export interface Entry {
  readonly who: string
  readonly mode: Mode
  readonly what: 'gained' | 'ended'
  readonly token: string
  readonly at: number
  /** Of an end: 'finished', or the reason of the loss. */
  readonly why?: string
}

/** One short line in one write: lines of several processes never mix. */
export function append(file: string, entry: Omit<Entry, 'at'>): void {
  appendFileSync(file, `${JSON.stringify({ ...entry, at: machineTime() })}\n`)
}

export function readLog(file: string): Entry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}

/** The turns that the entries tell of. One that was never ended lasts to `endOf`, by default for ever. */
export function turnsOf(entries: readonly Entry[], endOf: (gained: Entry) => number = () => Infinity): Turn[] {
  const ends = new Map(entries.filter(({ what }) => what === 'ended').map((entry) => [entry.token, entry]))
  return entries
    .filter(({ what }) => what === 'gained')
    .map((gained) => ({
      who: gained.who,
      mode: gained.mode,
      token: BigInt(gained.token),
      from: gained.at,
      until: ends.get(gained.token)?.at ?? endOf(gained),
    }))
}

// An append-only file to which all contenders of a run write, from several processes.
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { machineTime } from './machine-time.ts'
import type { Mode, Turn } from './turns.ts'

export interface Entry {
  readonly contender: string
  readonly mode: Mode
  /** `held` means that the contender has checked, and still held. */
  readonly what: 'asked' | 'gained' | 'held' | 'ended'
  readonly token: string
  readonly at: number
  /** In the entry `ended`: 'finished', or the reason of the loss. */
  readonly why?: string
}

/** Writes one short line at once, so lines of several processes never mix. */
export function append(file: string, entry: Omit<Entry, 'at'> & Partial<Pick<Entry, 'at'>>): void {
  appendFileSync(file, `${JSON.stringify({ at: machineTime(), ...entry })}\n`)
}

export function readLog(file: string): Entry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}

/** The newest entries: those in the last 8 KiB. */
export function readLatest(file: string): Entry[] {
  const log = openSync(file, 'a+')
  try {
    const { size } = fstatSync(log)
    const tail = Buffer.alloc(Math.min(size, 8_192))
    readSync(log, tail, 0, tail.length, size - tail.length)
    const lines = tail.toString().split('\n').slice(0, -1)
    // The first line may be incomplete.
    if (tail.length < size) lines.shift()
    return lines.map((line) => JSON.parse(line) as Entry)
  } finally {
    closeSync(log)
  }
}

/** The turns in the entries. A turn without an end lasts until `endOf`, by default for ever. */
export function turnsOf(entries: readonly Entry[], endOf: (gained: Entry) => number = () => Infinity): Turn[] {
  const ends = new Map(entries.filter(({ what }) => what === 'ended').map((entry) => [entry.token, entry]))
  return entries
    .filter(({ what }) => what === 'gained')
    .map((gained) => ({
      contender: gained.contender,
      mode: gained.mode,
      token: BigInt(gained.token),
      from: gained.at,
      until: ends.get(gained.token)?.at ?? endOf(gained),
    }))
}

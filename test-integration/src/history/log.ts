// An append-only file to which all contenders of a run write, from several processes.
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { machineTime } from './machine-time.ts'
import type { Mode, Turn } from './turns.ts'

/** What every line of a log has. */
export interface Note {
  readonly contender: string
  readonly what: string
  readonly at: number
}

/** A line about something that is held. */
export interface Entry extends Note {
  readonly mode: Mode
  /** `held` means that the contender has checked, and still held. */
  readonly what: 'asked' | 'gained' | 'held' | 'ended'
  readonly token: string
  /** In the entry `gained` of a semaphore: which permits. */
  readonly permits?: readonly number[] | undefined
  /** In the entry `ended`: 'finished', or the reason of the loss. */
  readonly why?: string
}

/** A line that is yet to be written: at the present time, unless it says another. */
export type Unwritten<N extends Note> = N extends Note ? Omit<N, 'at'> & Partial<Pick<N, 'at'>> : never

/** Writes one short line at once, so lines of several processes never mix. */
export function append<N extends Note = Entry>(file: string, note: Unwritten<N>): void {
  appendFileSync(file, `${JSON.stringify({ at: machineTime(), ...note })}\n`)
}

export function readLog<N extends Note = Entry>(file: string): N[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as N)
}

/** The newest lines: those in the last 8 KiB. */
export function readLatest(file: string): Note[] {
  const log = openSync(file, 'a+')
  try {
    const { size } = fstatSync(log)
    const tail = Buffer.alloc(Math.min(size, 8_192))
    readSync(log, tail, 0, tail.length, size - tail.length)
    const lines = tail.toString().split('\n').slice(0, -1)
    // The first line may be incomplete.
    if (tail.length < size) lines.shift()
    return lines.map((line) => JSON.parse(line) as Note)
  } finally {
    closeSync(log)
  }
}

/** The turns in the entries. A turn without an end lasts until `endOf`, by default for ever. */
export function turnsOf(entries: readonly Entry[], endOf: (gained: Entry) => number = () => Infinity): Turn[] {
  const ends = new Map(entries.filter(({ what }) => what === 'ended').map((entry) => [entry.token, entry]))
  return entries
    .filter(({ what }) => what === 'gained')
    .map((gained) => turn(gained, ends.get(gained.token)?.at ?? endOf(gained)))
}

export function turn({ contender, mode, token, permits, at }: Entry, until: number): Turn {
  return { contender, mode, token: BigInt(token), permits, from: at, until }
}

/** The permits of a hold of a semaphore. */
export function permitsOf(held: object): readonly number[] | undefined {
  return (held as Pick<Entry, 'permits'>).permits
}

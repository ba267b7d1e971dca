import { setTimeout as sleep } from 'node:timers/promises'
import { Semaphore } from '@zk/recipes'
import { byPermit, type Entry, type Note, type Turn } from '../../history/index.ts'
import { Holder, judgeHolds, turnsByAnswers, turnText } from '../holds.ts'
import { LATEST } from '../insist.ts'
import { type Recipe, sinceOf } from '../recipe.ts'

interface Resize extends Note {
  readonly what: 'resizing' | 'resized'
  /** Which call of `resize`. */
  readonly nth: number
  readonly number: number
}

/** A number of permits that was stored at some time from `from` to `to`, and then stays until the next one. */
interface Stored {
  readonly number: number
  readonly from: number
  readonly to: number
}

const FIRST = 3
const MOST = 5
/** The longest time between two calls of `resize`, in ms. */
const REST = 2_000

export const semaphore: Recipe<Entry | Resize> = {
  name: 'semaphore',
  weakAfter: 'held',
  keeps: ['', '/locks', '/leases'],
  async prepare(zk, path) {
    await new Semaphore(zk, path).resize(FIRST)
  },
  contenders(stage, log) {
    const { zk, path, process: label, slot } = stage
    const semaphore = new Semaphore(zk, path, { label })
    const takeTurn = async (contender: string) => {
      const count = Math.random() < 0.7 ? 1 : 2
      const several = { acquire: () => semaphore.acquire({ count }) }
      await new Holder(stage, log, contender).takeTurn('exclusive', several).catch((error: unknown) => {
        // Meanwhile there are fewer permits than it asks for.
        if (!(error instanceof RangeError)) throw error
      })
    }
    let nth = 0
    const resize = async (contender: string) => {
      const note = { contender, nth: nth++, number: 1 + Math.floor(Math.random() * MOST) }
      log({ ...note, what: 'resizing' })
      const isDone = await semaphore.resize(note.number).then(
        () => true,
        () => false,
      )
      if (isDone) log({ ...note, what: 'resized' })
      await sleep(Math.random() * REST)
    }
    const takers = { one: takeTurn, other: takeTurn }
    // With one writer at a time the order of the numbers is known.
    return slot === 0 ? { ...takers, resizer: resize } : takers
  },
  judge(notes) {
    const entries = notes.filter((note) => isEntry(note))
    const holds = judgeHolds(entries, byPermit)
    const stored = storedNumbers(notes.filter((note) => !isEntry(note)))
    return {
      ...holds,
      counts: { ...holds.counts, resizes: stored.length - 1 },
      violations: [...holds.violations, ...tooMany(entries, stored)],
    }
  },
}

function isEntry(note: Entry | Resize): note is Entry {
  return 'mode' in note
}

/**
 * When each number may have become the stored one: at any time from the call of `resize` to its answer. Without an answer the
 * latest time is that of `LATEST`, which is assumed and not proven: a resize that comes even later gives a false alarm.
 */
function storedNumbers(notes: readonly Resize[]): Stored[] {
  const keyOf = ({ contender, nth }: Resize) => `${contender} ${nth}`
  const resized = new Map(notes.filter(({ what }) => what === 'resized').map((note) => [keyOf(note), note.at]))
  return [
    { number: FIRST, from: -Infinity, to: -Infinity },
    ...notes
      .filter(({ what }) => what === 'resizing')
      .map((note) => ({ number: note.number, from: note.at, to: resized.get(keyOf(note)) ?? note.at + LATEST })),
  ]
}

/**
 * The grants for which there was no room. A grant is committed after it was asked for, and before its holder knows of it. Those
 * with a lower token that are held after that are older, so they were held at the commit, too.
 */
function tooMany(entries: readonly Entry[], stored: readonly Stored[]): string[] {
  const askedAt = sinceOf(entries, 'asked')
  const askedOf = new Map(
    entries.filter(({ what }) => what === 'gained').map((entry) => [BigInt(entry.token), askedAt.get(entry)!]),
  )
  const turns = turnsByAnswers(entries)
  const count = (all: readonly Turn[]) => all.reduce((sum, { permits = [] }) => sum + permits.length, 0)
  return turns.flatMap((grant) => {
    const asked = askedOf.get(grant.token)!
    const room = mostStored(stored, asked, grant.from)
    const others = turns.filter(({ token, until }) => token < grant.token && until >= grant.from)
    if (count(others) + count([grant]) <= room) return []
    return [`${turnText(grant)} has no room in ${room} beside ${others.map(turnText).join(' and ')}`]
  })
}

/** The greatest number that may have been stored at some time from `from` to `to`. */
function mostStored(stored: readonly Stored[], from: number, to: number): number {
  const isOver = (number: Stored) => stored.some((next) => next.from >= number.to && next.to <= from && next !== number)
  return Math.max(...stored.filter((each) => each.from <= to && !isOver(each)).map(({ number }) => number))
}

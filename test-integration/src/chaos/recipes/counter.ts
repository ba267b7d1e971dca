import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, KeeperError } from '@zk/recipes'
import type { Note } from '../../history/index.ts'
import { insist, LATEST } from '../insist.ts'
import { countsOf, type Recipe } from '../recipe.ts'

interface Change extends Note {
  readonly what: 'changing' | 'changed' | 'unknown' | 'failed'
  /** Which change of the contender. */
  readonly nth: number
  readonly delta: string
  /** The value behind a change that resolved. */
  readonly value?: string
  readonly why?: string
}

interface Final extends Note {
  readonly what: 'final'
  readonly value: string
}

/** A change that may have happened: `value` is the value behind it, where it is known to have happened. */
interface Outcome {
  readonly contender: string
  readonly delta: bigint
  readonly from: number
  readonly to: number
  readonly value: bigint | undefined
}

/** Deltas are positive and large: no two sums of a few of them are the same by chance, and 100,000 of them are no overflow. */
const LARGEST = 2 ** 40
/** How many changes without an answer may follow each other without an answered one between them. */
const MOST_UNKNOWN = 6

export const counter: Recipe<Change | Final> = {
  name: 'counter',
  weakAfter: 'changing',
  keeps: [''],
  contenders({ zk, path, turn }, log) {
    const counter = new Counter(zk, path)
    let nth = 0
    const change = async (contender: string) => {
      const delta = BigInt(1 + Math.floor(Math.random() * LARGEST))
      const note = { contender, nth: nth++, delta: String(delta) }
      log({ ...note, what: 'changing' })
      try {
        const isAdded = Math.random() < 0.5
        const value = await (isAdded ? counter.add(delta) : counter.update((old) => old + delta))
        log({ ...note, what: 'changed', value: String(value) })
      } catch (error) {
        if (!KeeperError.is(error)) throw error
        log({ ...note, what: error.outcomeUnknown ? 'unknown' : 'failed', why: error.code })
      }
      await sleep(Math.random() * 2 * turn)
    }
    return { one: change, other: change }
  },
  async atEnd(zk, path) {
    const value = await insist(zk, (options) => new Counter(zk, path).get(options))
    return { contender: 'the end', what: 'final', value: String(value) }
  },
  judge(notes) {
    const final = notes.find((note) => note.what === 'final')
    const changes = notes.filter((note) => note.what !== 'final')
    const outcomes = outcomesOf(changes)
    const known = outcomes.filter(({ value }) => value !== undefined)
    const waits = known.map(({ from, to }) => to - from)
    const ends = changes.filter(({ what }) => what === 'unknown' || what === 'failed')
    return {
      done: known.length,
      unit: 'changes',
      counts: countsOf(ends.map(({ what, why }) => `${what}: ${why}`)),
      worst: { wait: waits.reduce((one, other) => Math.max(one, other), 0) },
      violations: [...tooOld(outcomes), ...unexplained(outcomes, BigInt(final?.value ?? 0))],
    }
  },
}

/** All changes but those that rejected without `outcomeUnknown`: they have not happened. */
function outcomesOf(notes: readonly Change[]): Outcome[] {
  const keyOf = ({ contender, nth }: Change) => `${contender} ${nth}`
  const ends = new Map(notes.filter(({ what }) => what !== 'changing').map((note) => [keyOf(note), note]))
  return notes
    .filter((note) => note.what === 'changing' && ends.get(keyOf(note))?.what !== 'failed')
    .map((note) => {
      const end = ends.get(keyOf(note))
      const value = end?.value === undefined ? undefined : BigInt(end.value)
      return { contender: keyOf(note), delta: BigInt(note.delta), from: note.at, to: end?.at ?? Infinity, value }
    })
}

/** A change is behind all that resolved before it was asked for. */
function tooOld(outcomes: readonly Outcome[]): string[] {
  const known = outcomes.filter((each) => each.value !== undefined)
  const byEnd = known.toSorted((one, other) => one.to - other.to)
  let next = 0
  let newest = -1n
  return known
    .toSorted((one, other) => one.from - other.from)
    .filter(({ from, value }) => {
      while (byEnd[next] !== undefined && byEnd[next]!.to < from) {
        const { value: before } = byEnd[next++]!
        if (before! > newest) newest = before!
      }
      return value! <= newest
    })
    .map((each) => `${text(each)} is not behind the changes before it`)
}

/**
 * Each change adds its delta once. So from 0 to the final value each value is that of the change before it and the delta, and the
 * rest is made up by changes whose outcome is unknown, each once at most.
 */
function unexplained(outcomes: readonly Outcome[], final: bigint): string[] {
  const unknown = new Set(outcomes.filter(({ value }) => value === undefined))
  const steps = outcomes
    .filter(({ value }) => value !== undefined)
    .toSorted((one, other) => (one.value! < other.value! ? -1 : 1))
    .map((each) => ({ ...each, start: each.value! - each.delta, end: each.value!, what: text(each) }))
  const found: string[] = []
  let at = 0n
  let since = -Infinity
  const end = { start: final, end: final, from: Infinity, to: Infinity, what: 'the end' }
  for (const step of [...steps, end]) {
    const { start, to, what } = step
    const gap = start - at
    const candidates = [...unknown].filter((each) => each.from < to && latest(each) > since)
    const sum = gap < 0n ? undefined : subsetOf(candidates, gap, MOST_UNKNOWN)
    if (sum === undefined) found.push(`${what} comes behind ${at}, and the changes without an answer do not explain it`)
    for (const each of sum ?? []) unknown.delete(each)
    at = step.end
    since = step.from
  }
  return found
}

/** The time after which a change without an answer does not happen any more. That of a dead process is given up in `LATEST` at most. */
function latest({ from, to }: Outcome): number {
  return Math.min(to, from + 2 * LATEST) + LATEST
}

/** Some of the changes whose deltas have this sum; undefined if there are none. */
function subsetOf(changes: readonly Outcome[], sum: bigint, most: number): readonly Outcome[] | undefined {
  if (sum === 0n) return []
  if (most === 0) return undefined
  const last = changes.find(({ delta }) => delta === sum)
  if (last !== undefined || most === 1) return last && [last]
  for (const [index, each] of changes.entries()) {
    if (each.delta > sum) continue
    const others = subsetOf(changes.slice(index + 1), sum - each.delta, most - 1)
    if (others !== undefined) return [each, ...others]
  }
  return undefined
}

function text({ contender, delta, value, from, to }: Outcome): string {
  return `${contender} (+${delta} gives ${value}) ${from.toFixed(1)} to ${to.toFixed(1)}`
}

// The contenders among the children of a path, read from the bytes of the list.
//
// A contender needs few of them: the one right ahead, and whether its own node is there. So one pass over the bytes finds of
// each name its number, and the kind that it would have. The pass does not look at uuids: what it takes for a contender may
// be none. But it misses none, and each name that matters is parsed by `parseName`. Where the pass is not enough (numbers do
// not give the order, two have the same number, a name is no contender after all) all names are parsed and sorted. With 500
// names the pass takes 15 µs. To parse and to sort them all takes 350 µs.
import type { NameList } from '@zk/client/internal'
import type { ContenderName, Kind } from './names.ts'
import type { Rivals } from './rivals.ts'
import { areInOrder, bySequence, isExhausted } from './sequences.ts'

/** The contenders ahead of one, oldest first. */
export interface Ahead {
  /** How many there are. This parses all names. */
  readonly length: number
  /** All of them. This parses all names. */
  readonly all: readonly ContenderName[]
  /** The last ones, at most `count`, oldest first. With `kind` only those of this kind count. */
  last(count: number, kind?: Kind): readonly ContenderName[]
  /** All but this one. */
  without(gone: ContenderName): Ahead
}

/** Instead of a number: the name is no contender. */
const NONE = -1
/** Instead of a number: the name may be a contender whose number does not give the order. */
const ODD = -2

const DASH = 0x2d
const ZERO = 0x30
/** `%010d` */
const DIGITS = 10
/** Bytes of `_c_`, and of the dash behind the uuid. */
const AROUND_UUID = 4
const SHORTEST_UUID = 32
const LONGEST_UUID = 36

export class ContenderList {
  readonly #names: NameList
  readonly #rivals: Rivals
  /** The number of each name, or `NONE`, or `ODD`. */
  readonly #numbers: Int32Array
  /** The kind of each name with a number, as its index. */
  readonly #kinds: Uint8Array
  readonly #hasOdd: boolean
  #all: readonly ContenderName[] | undefined

  constructor(names: NameList, rivals: Rivals) {
    this.#names = names
    this.#rivals = rivals
    this.#numbers = new Int32Array(names.count)
    this.#kinds = new Uint8Array(names.count)
    this.#hasOdd = this.#scan()
  }

  /** All, by their numbers: oldest first, as long as numbers give the order. This parses all names. */
  get all(): readonly ContenderName[] {
    this.#all ??= this.#parseAll()
    return this.#all
  }

  /** All, as those ahead of one that has not entered. */
  get everyone(): Ahead {
    return new AheadByNumber(this, Infinity)
  }

  /** Those with a smaller number. A negative one is not smaller: the counter went on there. */
  below(number: number): Ahead {
    return new AheadByNumber(this, number)
  }

  /** Whether the numbers give the order of all contenders, now and while any of them waits. */
  get isInOrder(): boolean {
    return (!this.#hasOdd && areDistinct(this.#numbers)) || areInOrder(this.all)
  }

  shows({ name, sequence }: ContenderName): boolean {
    const number = this.#rivals.areAlike || isExhausted(sequence) ? ODD : sequence
    let at = this.#numbers.indexOf(number)
    while (at !== -1 && this.#names.text(at) !== name) at = this.#numbers.indexOf(number, at + 1)
    return at !== -1
  }

  /** The one with the largest number below this; `unsure` where the pass cannot tell. */
  largestBelow(bound: number, kind: Kind | undefined): ContenderName | undefined | 'unsure' {
    if (this.#hasOdd) return 'unsure'
    const kinds = this.#kinds
    const wanted = kind && this.#rivals.kinds.indexOf(kind)
    let largest = NONE
    let at = 0
    let hasTwin = false
    const numbers = this.#numbers
    for (let index = 0; index < numbers.length; index++) {
      const number = numbers[index]!
      if (number < largest || number === NONE || number >= bound) continue
      if (wanted !== undefined && kinds[index] !== wanted) continue
      hasTwin = number === largest
      largest = number
      at = index
    }
    if (largest === NONE) return undefined
    return (hasTwin ? undefined : this.#rivals.parse(this.#names.text(at))) ?? 'unsure'
  }

  #parseAll(): ContenderName[] {
    const rivals = this.#rivals
    const all: ContenderName[] = []
    for (const [index, number] of this.#numbers.entries()) {
      const name = number === NONE ? undefined : rivals.parse(this.#names.text(index))
      if (name !== undefined) all.push(name)
    }
    // Two may have the same number. The successor is the later one, also Curator's, whose uuid does not show it.
    return all.sort(
      (one, other) => bySequence(one, other) || Number(rivals.mayFollow(one)) - Number(rivals.mayFollow(other)),
    )
  }

  /** Fills `#numbers` and `#kinds`. Returns whether there is an odd number. */
  #scan(): boolean {
    const { markers, areAlike } = this.#rivals
    if (areAlike) {
      this.#numbers.fill(ODD)
      return true
    }
    const names = this.#names
    const { bytes, count } = names
    let hasOdd = false
    for (let index = 0; index < count; index++) {
      const start = names.start(index)
      const end = names.end(index)
      const kind = kindBefore(bytes, start, end - DIGITS, markers)
      const number = kind === NONE ? negativeAt(bytes, start, end, markers) : numberAt(bytes, end - DIGITS)
      this.#kinds[index] = kind
      this.#numbers[index] = number
      if (number === ODD) hasOdd = true
    }
    return hasOdd
  }
}

/** The index of the kind whose marker ends at `at`, if so many bytes are before it as before a marker; or `NONE`. */
function kindBefore(bytes: Uint8Array, start: number, at: number, markers: readonly Uint8Array[]): number {
  for (let kind = 0; kind < markers.length; kind++) {
    const marker = markers[kind]!
    const begin = at - marker.length
    const uuid = begin - AROUND_UUID - start
    if (uuid < SHORTEST_UUID || uuid > LONGEST_UUID || bytes[begin - 1] !== DASH) continue
    let same = 0
    while (same < marker.length && bytes[begin + same] === marker[same]) same++
    if (same === marker.length) return kind
  }
  return NONE
}

/** The number of ten digits; `ODD` where it does not give the order; `NONE` without ten digits. */
function numberAt(bytes: Uint8Array, start: number): number {
  let number = 0
  for (let at = start; at < start + DIGITS; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return bytes[start] === DASH ? ODD : NONE
    number = number * 10 + digit
  }
  return isExhausted(number) ? ODD : number
}

/** `ODD` where a name of no kind may have a negative number of ten digits: its sign is one byte further ahead. */
function negativeAt(bytes: Uint8Array, start: number, end: number, markers: readonly Uint8Array[]): number {
  const sign = end - DIGITS - 1
  return bytes[sign] === DASH && kindBefore(bytes, start, sign, markers) !== NONE ? ODD : NONE
}

function areDistinct(numbers: Int32Array): boolean {
  const sorted = numbers.filter((number) => number !== NONE).sort()
  return sorted.every((number, index) => number !== sorted[index + 1])
}

class AheadByNumber implements Ahead {
  readonly #list: ContenderList
  readonly #bound: number
  readonly #gone: ContenderName | undefined

  constructor(list: ContenderList, bound: number, gone?: ContenderName) {
    this.#list = list
    this.#bound = bound
    this.#gone = gone
  }

  get all(): readonly ContenderName[] {
    const { all } = this.#list
    const bound = this.#bound
    const ahead = bound === Infinity ? all : all.filter(({ sequence }) => sequence >= 0 && sequence < bound)
    return this.#gone === undefined ? ahead : ahead.filter((each) => !this.#isGone(each))
  }

  get length(): number {
    return this.all.length
  }

  last(count: number, kind?: Kind): readonly ContenderName[] {
    const last: ContenderName[] = []
    let bound = this.#bound
    while (last.length < count) {
      const name = this.#list.largestBelow(bound, kind)
      if (name === 'unsure') return new AheadInOrder(this.all).last(count, kind)
      if (name === undefined) break
      bound = name.sequence
      if (!this.#isGone(name)) last.unshift(name)
    }
    return last
  }

  without(gone: ContenderName): Ahead {
    return this.#gone === undefined
      ? new AheadByNumber(this.#list, this.#bound, gone)
      : new AheadInOrder(this.all).without(gone)
  }

  #isGone({ name }: ContenderName): boolean {
    return name === this.#gone?.name
  }
}

/** For contenders whose order is known. */
export class AheadInOrder implements Ahead {
  readonly all: readonly ContenderName[]

  constructor(all: readonly ContenderName[]) {
    this.all = all
  }

  get length(): number {
    return this.all.length
  }

  last(count: number, kind?: Kind): readonly ContenderName[] {
    const candidates = kind === undefined ? this.all : this.all.filter((each) => each.kind === kind)
    return count > 0 ? candidates.slice(-count) : []
  }

  without(gone: ContenderName): Ahead {
    return new AheadInOrder(this.all.filter(({ name }) => name !== gone.name))
  }
}

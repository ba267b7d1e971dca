// Checks of the arguments of calls, before anything is sent.
import { ProtocolError } from '@zk/wire'
import { isSignal } from './signals.ts'

/** Data of a znode: bytes, or text to be stored as UTF-8. */
export type Data = Uint8Array | string

/** One entry of a znode's access control list. */
export interface ACL {
  /** The rights: a sum of `Perms`. */
  readonly perms: number
  /** The identity: a scheme (`world`, `auth`, `digest`, `ip` …) and an id in it. */
  readonly id: { readonly scheme: string; readonly id: string }
}

const utf8 = new TextEncoder()

/** Returns the bytes. Does not copy them, because the request is written in the same turn. */
export function toBytes(data: Data): Uint8Array {
  if (typeof data === 'string') return utf8.encode(data)
  if (isBytes(data)) return data
  throw new TypeError(`data must be a Uint8Array or a string, not ${describe(data)}`)
}

/** Whether the value is a `Uint8Array`, possibly from another realm: test runners run tests in a realm of their own. */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    value instanceof Uint8Array || (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === BYTES_TAG)
  )
}

const BYTES_TAG = '[object Uint8Array]'

/**
 * Returns the version to send; -1 means any. A node has versions below -1 after 2^31 writes. Other clients take a number in place
 * of options. Here it is refused: it would be ignored, and any version would be accepted.
 */
export function versionIn(options: { readonly version?: number | undefined }): number {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object, such as { version: 3 }, not ${describe(options)}`)
  }
  const { version = -1 } = options
  if (Number.isInteger(version) && version === (version | 0)) return version
  throw new RangeError(`version must be a 32-bit integer, or -1 for any, not ${describe(version)}`)
}

/** Returns a copy of the ACL: a getter of the caller could otherwise make another call while the request is written. */
export function checkACL(acl: readonly ACL[]): readonly ACL[] {
  if (!Array.isArray(acl) || acl.length === 0) {
    throw new TypeError('acl must be a list of at least one { perms, id: { scheme, id } }')
  }
  return Array.from(acl as readonly ACL[], (entry, index) => {
    const { perms, id: given } = entry ?? {}
    const id = { scheme: given?.scheme, id: given?.id }
    if (!Number.isInteger(perms) || perms < 1 || perms > 31) {
      throw new RangeError(`acl[${index}].perms must be a sum of Perms from 1 to 31, not ${describe(perms)}`)
    }
    if (typeof id.scheme !== 'string' || id.scheme === '' || typeof id.id !== 'string') {
      throw new TypeError(
        `acl[${index}].id must be { scheme, id } of two strings, such as { scheme: 'world', id: 'anyone' }`,
      )
    }
    return { perms, id }
  })
}

/** Returns the value of a field that ZooKeeper always fills. Throws a `ProtocolError` if it is null. */
export function required<T>(value: T | null, field: string): T {
  if (value === null) throw new ProtocolError(`null where a value is required in ${field}`)
  return value
}

/**
 * Throws a `TypeError` for options that are not an object, or that have an unknown key. `example` shows what to write, `hints` says
 * of names that are not known here what to write in their place.
 */
export function checkKeys(
  what: string,
  options: object,
  known: readonly string[],
  example = '{}',
  hints: Readonly<Record<string, string>> = {},
): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${what}: options must be an object such as ${example}, not ${describe(options)}`)
  }
  if (isSignal(options)) throw new TypeError(`${what}: a signal is given as { signal }`)
  // Keys of the prototype do not count. So an AbortController, which has a `signal` there, is accepted.
  for (const key in options)
    if (!known.includes(key) && Object.hasOwn(options, key)) throw unknownKeys(what, options, { known, example, hints })
}

interface Keys {
  readonly known: readonly string[]
  readonly example: string
  readonly hints: Readonly<Record<string, string>>
}

function unknownKeys(what: string, options: object, { known, example, hints }: Keys): TypeError {
  const names = known.join(', ')
  // Other clients take a list of ACLs in place of options.
  if (Array.isArray(options)) {
    return new TypeError(`${what}: options must be an object such as ${example}, not an array; known are ${names}`)
  }
  const unknown = Object.keys(options).filter((key) => !known.includes(key))
  const hinted = unknown.map((key) => {
    const nearest = nearestOf(key, known)
    const hint = Object.hasOwn(hints, key) ? hints[key] : nearest && `did you mean ${nearest}?`
    return hint === undefined ? key : `${key} (${hint})`
  })
  return new TypeError(`${what}: unknown option ${hinted.join(', ')}; known are ${names}`)
}

/** The known name that is spelled most like this one, if any is: in another case, with letters wrong, longer or shorter. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const given = name.toLowerCase()
  let nearest: string | undefined
  let most = Math.min(Math.floor(given.length * 0.4), MOST_EDITS)
  for (const each of known) {
    const other = each.toLowerCase()
    const isPart = given.startsWith(other) || (most > 0 && other.startsWith(given))
    const edits = Math.min(editsBetween(given, other, most), isPart ? 1 : Infinity)
    if (edits > most) continue
    most = edits - 1
    nearest = each
  }
  return nearest
}

/** More letters are not wrong by mistake. With a limit the search is short. */
const MOST_EDITS = 3

/** How many letters must be inserted, removed or replaced to turn one text into the other; Infinity if more than `most`. */
function editsBetween(one: string, other: string, most: number): number {
  if (most < 0) return Infinity
  if (one === '' || other === '') return one.length + other.length
  const [oneRest, otherRest] = [one.slice(1), other.slice(1)]
  if (one[0] === other[0]) return editsBetween(oneRest, otherRest, most)
  const edits = (from: string, to: string) => editsBetween(from, to, most - 1)
  return 1 + Math.min(edits(oneRest, otherRest), edits(oneRest, other), edits(one, otherRest))
}

/** Throws unless the option is undefined, true or false. */
export function checkBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`)
}

/** Throws unless the option is undefined or a signal, possibly from another realm or library. */
export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal')
}

/** Throws unless the option is undefined or a number of ms. */
export function checkTime(name: string, ms: unknown): void {
  if (ms === undefined || (typeof ms === 'number' && ms >= 0)) return
  throw new RangeError(`${name} must be a number of ms, 0 or more, not ${shown(ms)}`)
}

/** Shows a wrong value. A string gets quotes: a number as text, from the environment for instance, would look right. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? `the string ${JSON.stringify(value)}` : String(value)
}

/** Describes a value for an error message, without its content, which may be a secret. */
export function describe(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'number' ? String(value) : typeof value
}

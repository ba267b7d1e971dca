// What a node says of its task besides its label: for which nodes the task waits. It stands behind the label, and readers of the
// label do not see it. A mark is the path of a node in the ensemble, with or without the number at its end.
import type { ZooKeeper } from '@zk/client'
import { type ContenderName, type Kind, namePrefix } from '../queue/names.ts'

const utf8 = new TextEncoder()
const text = new TextDecoder()
const BEGIN_TEXT = '\0waits for '
const BEGIN = utf8.encode(BEGIN_TEXT)
/** The names of the kinds whose nodes may have marks. What others store is never cut. */
const MARKED = new Set(['lock', 'read', 'write'])
/** A task that waits for more says so of the first ones only. */
const MOST_MARKS = 100

export interface Marked {
  readonly label: Uint8Array
  readonly waitsFor: readonly string[]
}

export function withMarks(label: Uint8Array | string, waitsFor: readonly string[]): Uint8Array | string {
  if (waitsFor.length === 0) return label
  const bytes = typeof label === 'string' ? utf8.encode(label) : label
  const marks = utf8.encode(BEGIN_TEXT + JSON.stringify(waitsFor.slice(0, MOST_MARKS)))
  const data = new Uint8Array(bytes.length + marks.length)
  data.set(bytes)
  data.set(marks, bytes.length)
  return data
}

/** Throws if readers would take a part of the label for marks. */
export function checkLabel(label: unknown): void {
  if (typeof label !== 'string' || !label.includes(BEGIN_TEXT)) return
  throw new TypeError(`a label must not contain ${JSON.stringify(BEGIN_TEXT)}: what detectDeadlocks writes begins so`)
}

/** What the data of a node of this kind is besides marks. */
export function labelOf({ name }: Kind, data: Uint8Array): Uint8Array {
  return MARKED.has(name) ? readMarks(data).label : data
}

/** The data of a node of any program: without marks all of it is the label. */
export function readMarks(data: Uint8Array): Marked {
  const begin = lastIndexOf(data, BEGIN)
  try {
    const waitsFor: unknown = begin >= 0 && JSON.parse(text.decode(data.subarray(begin + BEGIN.length)))
    if (Array.isArray(waitsFor) && waitsFor.every((each) => typeof each === 'string')) {
      return { label: data.subarray(0, begin), waitsFor }
    }
  } catch {
    // It only looks like marks.
  }
  return { label: data, waitsFor: [] }
}

/** Where the last such part begins; -1 if there is none. A label may have a megabyte, so the first byte is found natively. */
function lastIndexOf(data: Uint8Array, part: Uint8Array): number {
  let at = data.lastIndexOf(part[0]!)
  while (at > 0 && !part.every((byte, index) => data[at + index] === byte)) at = data.lastIndexOf(part[0]!, at - 1)
  return part.every((byte, index) => data[at + index] === byte) ? at : -1
}

/** The path in the ensemble. */
export function absolute({ chroot }: ZooKeeper, path: string): string {
  return chroot === '/' ? path : `${chroot}${path}`
}

/** The path for this client; undefined if it is not below its chroot. */
export function relative({ chroot }: ZooKeeper, path: string): string | undefined {
  if (chroot === '/') return path
  return path.startsWith(`${chroot}/`) ? path.slice(chroot.length) : undefined
}

/** The mark of a node before it has its number. */
export function markOf(zk: ZooKeeper, parent: string, name: Pick<ContenderName, 'kind' | 'uuid'>): string {
  return absolute(zk, `${parent}/${namePrefix(name.kind, name.uuid)}`)
}

/**
 * The marks of the n-th of several nodes of one contender. Each of them stands in the way of others until all are free. The first
 * names all others, and all others name the first, so together they are as long as the paths.
 */
export function marksBeside(marks: readonly string[], n: number): readonly string[] {
  return n === 0 ? marks.slice(1) : marks.slice(0, 1)
}

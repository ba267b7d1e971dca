// Contenders as text and as JSON.
import { hex, printable } from '@zk/client/internal'
import { table } from '../command/table.ts'
import type { Addresses } from './addresses.ts'
import type { Contender } from './contenders.ts'

/** In tables. Data that is no label may be long. */
const LONGEST_LABEL = 48

export function contenderDocument(
  contender: Contender,
  addresses: Addresses | undefined,
): Readonly<Record<string, unknown>> {
  const { path, kind, isGranted, label, sessionId, since, fencingToken, permit, behind } = contender
  return {
    path,
    kind,
    isGranted: isGranted ?? null,
    label,
    sessionId: hex(sessionId),
    since: dateOf(since),
    sinceMs: since,
    fencingToken: String(fencingToken),
    behind: behind?.path ?? null,
    ...(permit === undefined ? {} : { permit }),
    ...(addresses === undefined ? {} : { address: addresses.of(sessionId) ?? null }),
  }
}

/** A table with a line for each contender, oldest first. */
export function contenderTable(contenders: readonly Contender[], addresses: Addresses | undefined): string {
  const rows = contenders.map((contender) => [
    contender.isGranted === undefined ? '?' : contender.isGranted ? 'holds' : 'waits',
    shortLabel(contender),
    hex(contender.sessionId),
    ...(addresses === undefined ? [] : [addresses.of(contender.sessionId) ?? '-']),
    dateOf(contender.since),
    String(contender.fencingToken),
    contender.behind === undefined ? '-' : nameOf(contender.behind),
    printable(contender.path),
  ])
  const address = addresses === undefined ? [] : ['ADDRESS']
  return table([['', 'LABEL', 'SESSION', ...address, 'SINCE', 'TOKEN', 'BEHIND', 'NODE'], ...rows])
}

/** One line: who holds, and how many wait. */
export function contenderSummary(path: string, contenders: readonly Contender[]): string {
  const holders = contenders.filter(({ isGranted }) => isGranted !== false)
  const waiting = contenders.length - holders.length
  const held = holders.length === 0 ? 'free' : `held by ${holders.map(nameOf).join(', ')}`
  return `${printable(path)}  ${held}${waiting === 0 ? '' : `; ${waiting} waiting`}`
}

/** Its label, or its session if it has none. */
export function nameOf(contender: Contender): string {
  const label = shortLabel(contender)
  return label === '-' ? hex(contender.sessionId) : label
}

function shortLabel({ label }: Contender): string {
  // Only the beginning: escaping a megabyte takes seconds.
  const text = printable(label.slice(0, LONGEST_LABEL))
  return text === ''
    ? '-'
    : text.length > LONGEST_LABEL || label.length > LONGEST_LABEL
      ? `${text.slice(0, LONGEST_LABEL - 1)}…`
      : text
}

/** A time that a server gives, which may be out of the range of dates. */
export function dateOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString()
}

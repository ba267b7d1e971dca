// Nodes as text and as JSON.
import { Buffer } from 'node:buffer'
import type { Stat } from '@zk/client'
import { hex, printable } from '@zk/client/internal'

/** The stat in JSON: zxids and sessions in hex, times as ISO dates and in ms. */
export function statDocument(stat: Stat): Readonly<Record<string, unknown>> {
  return {
    czxid: hex(stat.czxid),
    mzxid: hex(stat.mzxid),
    pzxid: hex(stat.pzxid),
    ctime: dateOf(stat.ctime),
    ctimeMs: stat.ctime,
    mtime: dateOf(stat.mtime),
    mtimeMs: stat.mtime,
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: hex(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  }
}

/** Servers show containers and nodes with a TTL as persistent (DataNode.getClientEphemeralOwner). */
export function isEphemeral({ ephemeralOwner }: Pick<Stat, 'ephemeralOwner'>): boolean {
  return ephemeralOwner !== 0n
}

/** The stat for people: a line a field. */
export function statLines(stat: Stat): string {
  const { ctimeMs, mtimeMs, ...fields } = statDocument(stat)
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(14)}  ${String(value)}\n`)
    .join('')
}

/** Text if the data is UTF-8, otherwise base64. */
export function dataDocument({ data }: { readonly data: Uint8Array }): Readonly<Record<string, unknown>> {
  const text = textOf(data)
  return text === undefined ? { base64: Buffer.from(data).toString('base64') } : { text }
}

/** undefined if the data is no UTF-8. */
export function textOf(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return undefined
  }
}

/** Text for a terminal, which control characters would confuse. Line ends and tabs stay. */
export function forTerminal(text: string): string {
  return text
    .split(/(?<=[\n\t])|(?=[\n\t])/)
    .map((part) => (/^[\n\t]+$/.test(part) ? part : printable(part)))
    .join('')
}

/** A time that a server gives, which may be out of the range of dates. */
function dateOf(ms: number): string | undefined {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

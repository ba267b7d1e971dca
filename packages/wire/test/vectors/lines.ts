import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
/** A record's fields as the lines spell them: longs in decimal, buffers in hex. */
export type Fields = { readonly [name: string]: Json }

interface Lines {
  meta: { zookeeper: string; seed: string }
  schema: { record: string; fields: readonly (readonly [name: string, type: string])[] }
  encode: { record: string; v: Fields; hex: string; java_decode?: Fields }
  frame: { dir: 'c2s' | 's2c'; what: string; parts: readonly Fields[]; hex: string }
  multi: { opcode: number; ops: readonly ({ readonly op: string } & Fields)[]; hex: string }
  multiResponse: { results: readonly ({ readonly type: number } & Fields)[]; hex: string }
  decode: { record: string; why: string; hex: string } & ({ ok: true; v: Fields } | { ok: false; error: string })
  path: { path: string | null; sequential: boolean; ok: boolean; error?: string }
  connectString: { in: string } & (
    | { ok: true; hosts: readonly (readonly [host: string, port: number])[]; chroot: string | null }
    | { ok: false; error: string }
  )
  const: { group: string; name: string; value: number }
  rebalance: unknown
  sequence: unknown
  digest: { in: string; out: string }
  ephemeralOwner: unknown
}
export type Kind = keyof Lines

const all: readonly { readonly kind: Kind }[] = gunzipSync(readFileSync(new URL('vectors.jsonl.gz', import.meta.url)))
  .toString('ascii')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

/** The lines of one kind, in their order. */
export function lines<K extends Kind>(kind: K): readonly Lines[K][] {
  return all.filter((line) => line.kind === kind) as unknown as readonly Lines[K][]
}

/** Rows for `test.each`: a line and, for the name of its test, its number and what tells it from the others. */
export function rows<L>(some: readonly L[], title?: (line: L) => string): (readonly [title: string, line: L])[] {
  return some.map((line, index) => [title === undefined ? `${index + 1}` : `${title(line)} (${index + 1})`, line])
}

export function countsByKind(): Partial<Record<Kind, number>> {
  const counts: Partial<Record<Kind, number>> = {}
  for (const { kind } of all) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

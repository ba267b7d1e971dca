// A program for several sessions, as data: any part of it can be left out, and what is left is a program too.
import { type OperationName, type RequestOf } from '@zk/wire'
import type { Place } from '../scenario/index.ts'

/** What a program may ask for. */
export type Op = Extract<
  OperationName,
  | 'create'
  | 'create2'
  | 'createContainer'
  | 'delete'
  | 'setData'
  | 'exists'
  | 'getData'
  | 'getChildren'
  | 'getChildren2'
  | 'getAllChildrenNumber'
  | 'getEphemerals'
  | 'whoAmI'
  | 'getACL'
  | 'setACL'
  | 'sync'
  | 'ping'
  | 'multi'
  | 'checkWatches'
  | 'removeWatches'
>

/** A request that is as it should be. */
export type PlainCall = { [Name in Op]: { readonly op: Name; readonly request: RequestOf<Name>['request'] } }[Op]

export type Call =
  | PlainCall
  /** Without the last bytes of its body. */
  | { readonly op: 'cut'; readonly call: PlainCall; readonly bytes: number }
  | {
      readonly op: 'setWatches'
      /** All that is later has been missed. */
      readonly since: 'beginning' | 'connection' | 'now'
      readonly lists: Omit<RequestOf<'setWatches'>['request'], 'relativeZxid'>
    }
  | { readonly op: 'auth'; readonly user: string }
  /** What servers ask each other for: with such a body, under any xid. */
  | { readonly op: 'servers'; readonly opCode: number; readonly body: Uint8Array; readonly xid?: number }
  /** An opcode that no server knows, which ends the connection. */
  | { readonly op: 'unknown'; readonly opCode: number }

/** Of one session; where there is none, or one already, nothing is done. */
export type Step = { readonly session: number } & (
  | { readonly do: 'open' | 'resume'; readonly at: Place }
  | { readonly do: 'close' | 'drop' }
  /** In one flight. */
  | { readonly do: 'call'; readonly calls: readonly Call[] }
)

export type Program = readonly Step[]

/** How many requests it makes. */
export function countOf(program: Program): number {
  return program.reduce((sum, step) => sum + (step.do === 'call' ? step.calls.length : 1), 0)
}

/** As it can be read, and put into a test. */
export function formatProgram(program: Program): string {
  return program.map((step) => `  ${formatValue(step)},`).join('\n')
}

function formatValue(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes('${String.fromCharCode(...value)}')`
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${formatValue(part)}`)
  return `{ ${parts.join(', ')} }`
}

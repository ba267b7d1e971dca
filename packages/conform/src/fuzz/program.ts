// A program for several sessions, as data. If any part is left out, the rest is still a program.
import { type OperationName, operationName, type RequestOf } from '@zk/wire'
import { open, type Place } from '../play/index.ts'

/** The requests that a program may send. */
export type Op = Extract<
  OperationName,
  | 'create'
  | 'create2'
  | 'createContainer'
  | 'createTTL'
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
  | 'multiRead'
  | 'addWatch'
  | 'checkWatches'
  | 'removeWatches'
>

/** Since when events were missed: the `relativeZxid`. */
type Since = 'beginning' | 'connection' | 'now'

/** A well-formed request. */
export type PlainCall = { [Name in Op]: { readonly op: Name; readonly request: RequestOf<Name>['request'] } }[Op]

export type Call =
  | PlainCall
  /** A request without the last bytes of its body. */
  | { readonly op: 'cut'; readonly call: PlainCall; readonly bytes: number }
  | {
      readonly op: 'setWatches'
      readonly since: Since
      readonly lists: Omit<RequestOf<'setWatches'>['request'], 'relativeZxid'>
    }
  | {
      readonly op: 'setWatches2'
      readonly since: Since
      readonly lists: Omit<RequestOf<'setWatches2'>['request'], 'relativeZxid'>
    }
  | { readonly op: 'auth'; readonly user: string }
  /** A request that servers send to each other, with any body and xid. */
  | { readonly op: 'servers'; readonly opCode: number; readonly body: Uint8Array; readonly xid?: number }
  /** An opcode that no server knows, which ends the connection. */
  | { readonly op: 'unknown'; readonly opCode: number }

/** A step of one session. It does nothing if the session does not exist, or if it connects and the session is connected. */
export type Step = { readonly session: number } & (
  | { readonly do: 'open' | 'resume'; readonly at: Place }
  | { readonly do: 'close' | 'drop' }
  /** Requests that are sent together, without waiting for replies. */
  | { readonly do: 'call'; readonly calls: readonly Call[] }
)

export type Program = readonly Step[]

/** The number of requests; each other step counts as one. */
export function countOf(program: Program): number {
  return program.reduce((sum, step) => sum + (step.do === 'call' ? step.calls.length : 1), 0)
}

/** The program as source text that can be pasted into a test. */
export function formatProgram(program: Program): string {
  return program.map((step) => `  ${formatValue(step)},`).join('\n')
}

function formatValue(value: unknown): string {
  if (value === open) return 'open'
  if (value instanceof Uint8Array) return `bytes('${String.fromCharCode(...value)}')`
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${operationIn(name, part) ?? formatValue(part)}`)
  return `{ ${parts.join(', ')} }`
}

/** The type of a part of a multi. */
function operationIn(name: string, value: unknown): string | undefined {
  const operation = name === 'type' && typeof value === 'number' ? operationName(value) : undefined
  return operation && `OpCode.${operation}`
}

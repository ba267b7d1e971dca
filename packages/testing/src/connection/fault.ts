// The kinds of faults, and which frames they strike.
import { type OperationName, operations, validatePath } from '@zk/wire'

/** What happens to the connection when a frame is lost. */
export type Ending =
  /** It is closed (FIN), after all earlier answers. */
  | 'end'
  /** It is reset (RST). Answers that were sent shortly before may be lost, too. */
  | 'reset'
  /** It stays open, but from now on everything is lost in both directions, and neither end notices: a cable was cut. */
  | 'halfOpen'
  /** It stays open, and only this frame is missing. */
  | 'open'

/** What a fault does to a frame. Times are in ms. */
export type Fault =
  | { readonly type: 'loseRequest'; readonly connection: Ending }
  | { readonly type: 'loseReply'; readonly connection: Ending }
  | { readonly type: 'drop'; readonly connection: Ending }
  | { readonly type: 'delayRequest'; readonly ms: number }
  | { readonly type: 'delayReply'; readonly ms: number }
  | { readonly type: 'fail'; readonly err: number }
  | { readonly type: 'replaceSession' }
  | { readonly type: 'garbage'; readonly bytes: Uint8Array }
  | { readonly type: 'split'; readonly at: number; readonly ms: number }
  | { readonly type: 'merge'; readonly ms: number }

/** Whether a fault strikes the request, before it is executed. If not, it strikes the reply. */
const STRIKES_REQUEST: { readonly [Type in Fault['type']]: boolean } = {
  loseRequest: true,
  loseReply: false,
  drop: false,
  delayRequest: true,
  delayReply: false,
  fail: true,
  replaceSession: false,
  garbage: false,
  split: false,
  merge: false,
}

export const strikesRequest = (type: Fault['type']) => STRIKES_REQUEST[type]

/** Operations that a rule cannot name. */
type NotNameable = 'notification' | 'error' | 'createSession' | 'deleteContainer'

/**
 * The kind of a request: its operation. `create` also stands for create2, createContainer and createTTL, `getChildren` for
 * getChildren2, `setWatches` for setWatches2. `connect` is the handshake, `event` is an event of a watch.
 */
export type FaultOp = Exclude<OperationName, NotNameable> | 'connect' | 'event'

/** The frames that a rule strikes. They must match each field that is given. */
export interface FaultMatch {
  /** One kind or several. @default all requests except pings and the handshake */
  op?: FaultOp | readonly FaultOp[] | undefined
  /**
   * A string matches this node and all nodes below it: `/locks/report` also matches the nodes of contenders. A RegExp is
   * tested on the whole path. A multi matches if one of its operations does. A sequential create matches by the path of its
   * request, which has no number yet.
   * @default any
   */
  path?: string | RegExp | undefined
  /** The id of a session. @default any */
  session?: bigint | undefined
  /** The name of the member that the client is connected to. @default any */
  member?: string | undefined
  /** The first of the matching requests that is struck: 1 is the next one. @default 1 */
  nth?: number | undefined
  /** How many matching requests are struck from that one on; may be Infinity. @default 1 */
  times?: number | undefined
}

/** What a match compares with a frame. */
export interface Subject {
  readonly op: OperationName | 'connect' | 'event' | undefined
  readonly paths: readonly string[]
  readonly session: bigint
  readonly member: string
}

/** Tests whether a frame matches. `nth` and `times` are not part of this. */
export type Matcher = (subject: Subject) => boolean

const NOT_NAMEABLE: ReadonlySet<string> = new Set<NotNameable>([
  'notification',
  'error',
  'createSession',
  'deleteContainer',
])
const OPS: ReadonlySet<string> = new Set([
  'connect',
  'event',
  ...Object.keys(operations).filter((name) => !NOT_NAMEABLE.has(name)),
])
/** The operations for which a name stands besides its own. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  create: ['create2', 'createContainer', 'createTTL'],
  getChildren: ['getChildren2'],
  setWatches: ['setWatches2'],
}
/** Kinds that match only if `op` names them. */
const ONLY_BY_NAME: ReadonlySet<string | undefined> = new Set(['connect', 'event', 'ping'])

/** The kinds that `op` names, checked; undefined if there is no `op`. */
export function opsOf({ op }: Pick<FaultMatch, 'op'>): ReadonlySet<string> | undefined {
  if (op === undefined) return undefined
  const names: readonly string[] = typeof op === 'string' ? [op] : op
  if (!Array.isArray(names) || names.length === 0) throw new TypeError('op must be the name of an operation, or a list')
  const unknown = names.find((name) => !OPS.has(name))
  if (unknown !== undefined) throw new TypeError(`unknown op ${show(unknown)}; known are ${[...OPS].join(', ')}`)
  return new Set(names.flatMap((name) => [name, ...(FAMILIES[name] ?? [])]))
}

/** Turns a match into a test of frames. Throws a `TypeError` or `RangeError` for a match that no frame can have. */
export function matcher(match: Omit<FaultMatch, 'nth' | 'times'>, members: readonly string[]): Matcher {
  const ops = opsOf(match)
  const { path, session, member } = match
  const onPath = path === undefined ? undefined : pathMatcher(path)
  if (session !== undefined && typeof session !== 'bigint') {
    throw new TypeError(`session must be the id of a session, a bigint, not ${show(session)}`)
  }
  if (member !== undefined) checkMember(member, members)
  return (subject) =>
    (ops === undefined ? !ONLY_BY_NAME.has(subject.op) : ops.has(subject.op ?? '')) &&
    (session === undefined || session === subject.session) &&
    (member === undefined || member === subject.member) &&
    (onPath === undefined || subject.paths.some(onPath))
}

export function checkMember(name: string, members: readonly string[]): void {
  if (members.includes(name)) return
  throw new RangeError(`there is no member ${show(name)}; there are ${members.join(', ')}`)
}

/** Throws a `TypeError` that lists the known keys, if there is an unknown key. */
export function checkKeys(what: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${what}: the options must be an object`)
  const unknown = Object.keys(options).filter((key) => !known.includes(key))
  if (unknown.length === 0) return
  const renamed = unknown.includes('version') && known.includes('release') ? ' (version is called release)' : ''
  throw new TypeError(`${what}: unknown option ${unknown.join(', ')}${renamed}; known are ${known.join(', ')}`)
}

export function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function pathMatcher(path: string | RegExp): (path: string) => boolean {
  if (path instanceof RegExp) {
    // With the flag `g` or `y`, a RegExp would continue from its last match.
    const pattern = new RegExp(path.source, path.flags.replace(/[gy]/g, ''))
    return (candidate) => pattern.test(candidate)
  }
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new TypeError(`path must be a RegExp or the path of a node, which starts with "/", not ${show(path)}`)
  }
  validatePath(path)
  const below = path === '/' ? path : `${path}/`
  return (candidate) => candidate === path || candidate.startsWith(below)
}

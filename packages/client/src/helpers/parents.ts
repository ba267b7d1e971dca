// Makes missing nodes above a node.
import { wasAborted } from '../aborts.ts'
import { KeeperError } from '../errors.ts'
import { type ACL, checkACL, type Data } from '../operations/arguments.ts'
import type { Created, CreateOptions } from '../operations/create.ts'
import type { CallOptions, ParentsOptions } from '../call-options.ts'
import type { Runtime } from '../runtime/runtime.ts'

type Options = CreateOptions & ParentsOptions & CallOptions

/** The arguments of a create, kept to repeat it. */
export interface CreateArguments {
  readonly data: Data | undefined
  readonly options: Options
}

/** A copy of the arguments: the caller may change them before the request is repeated. */
export function snapshot({ data, options }: CreateArguments): CreateArguments {
  const { acl, parents } = options
  const above = typeof parents === 'object' ? { acl: copy(parents.acl) } : parents
  return {
    data: data instanceof Uint8Array ? new Uint8Array(data) : data,
    options: { ...options, acl: acl && copy(acl), parents: above },
  }
}

function copy(acl: readonly ACL[]): readonly ACL[] {
  checkACL(acl)
  return acl.map(({ perms, id: { scheme, id } }) => ({ perms, id: { scheme, id } }))
}

/** How long the caller still waits. */
export interface Patience {
  readonly runtime: Pick<Runtime, 'now'>
  readonly until: number
  readonly signal: AbortSignal | undefined
}

const timeLeft = ({ runtime, until }: Patience) => until - runtime.now()

/** Creates one node, with a time limit in ms. */
export type MakeNode = (path: string, mode: ParentMode, timeout: number) => Promise<unknown>

export interface BelowMissingParent {
  /** The parent, as a path of the whole tree. */
  readonly above: string
  readonly make: MakeNode
  readonly create: (timeout: number) => Promise<Created>
}

/**
 * Repeats a create whose parent was missing: makes the nodes above, and tries again as long as there is time. The create is
 * not sent again before the requests for the nodes above have settled. So a connection that is lost meanwhile leaves no doubt
 * about the node.
 */
export async function createBelow(
  { above, make, create }: BelowMissingParent,
  patience: Patience,
  noNode: KeeperError,
): Promise<Created> {
  for (;;) {
    if (timeLeft(patience) <= 0) throw noNode
    const parentError = await makePath(above, 'CONTAINER', make, patience)
    if (timeLeft(patience) <= 0) throw noNode
    try {
      return await create(timeLeft(patience))
    } catch (error) {
      if (wasAborted(error, patience.signal) || !KeeperError.is(error, 'NoNode')) throw error
      if (parentError !== undefined && !mayCreateLater(parentError)) throw parentError
    }
  }
}

/** How the nodes are made. */
export type ParentMode = 'CONTAINER' | 'PERSISTENT'

/** Makes this node of the whole tree, and all above it. Resolves with the error that prevented it, if any. */
export function makePath(path: string, mode: ParentMode, make: MakeNode, patience: Patience): Promise<unknown> {
  const names = path === '/' ? [] : path.split('/').slice(1)
  const paths = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return makeNodes(paths, mode, make, patience)
}

/**
 * Makes the nodes from the top. Returns undefined when the last one exists: errors of nodes above do not matter then, since
 * they may exist where this client has no right to create. Otherwise returns the first error.
 */
async function makeNodes(
  paths: readonly string[],
  mode: ParentMode,
  make: MakeNode,
  patience: Patience,
): Promise<unknown> {
  const failures = await makeOnce(paths, mode, make, patience)
  const last = failures.at(-1)
  if (last === undefined || wasAborted(last, patience.signal)) return last
  // A busy server, or our own full queue, may have refused one node. Those below it then had no parent. Another attempt may
  // get further.
  const existing = failures.lastIndexOf(undefined) + 1
  const mayGetFurther = existing > 0 && KeeperError.is(last, 'NoNode', 'QueueFull')
  if (mayGetFurther && timeLeft(patience) > 0) return makeNodes(paths.slice(existing), mode, make, patience)
  return failures.find((failure) => failure !== undefined)
}

/** The error of each node; undefined for a node that exists now. */
async function makeOnce(
  paths: readonly string[],
  mode: ParentMode,
  make: MakeNode,
  patience: Patience,
): Promise<unknown[]> {
  const all = async (mode: ParentMode) => {
    const making = paths.map((path) => make(path, mode, Math.max(0, timeLeft(patience))))
    const results = await Promise.allSettled(making)
    return results.map((each) => (each.status === 'fulfilled' ? undefined : unlessThere(each.reason, patience.signal)))
  }
  const failures = await all(mode)
  // Servers before 3.5.1 do not know containers. They close the connection, so the other answers mean nothing.
  const isUnknown = mode === 'CONTAINER' && failures.some((failure) => KeeperError.is(failure, 'Unimplemented'))
  return isUnknown ? await all('PERSISTENT') : failures
}

function unlessThere(error: unknown, signal: AbortSignal | undefined): unknown {
  return KeeperError.is(error, 'NodeExists') && !wasAborted(error, signal) ? undefined : error
}

/** Whether the next attempt may succeed. */
function mayCreateLater(error: unknown): boolean {
  return KeeperError.is(error) && (error.outcomeUnknown || KeeperError.is(error, ...MAY_CREATE_LATER))
}

const MAY_CREATE_LATER = ['ConnectionLoss', 'RequestTimeout', 'ThrottledOp', 'NoNode'] as const

/** Checks `parents`, which may have any type in plain JavaScript. */
export function wantsParents(parents: ParentsOptions['parents']): boolean {
  if (parents === undefined || typeof parents === 'boolean') return parents === true
  if (typeof parents === 'object' && parents !== null) return true
  throw new TypeError('parents must be true, false or { acl }')
}

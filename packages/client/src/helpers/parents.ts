// Nodes above a node, made where they are missing.
import { wasAborted } from '../aborts.ts'
import { KeeperError } from '../errors.ts'
import { type ACL, checkACL, type Data } from '../operations/arguments.ts'
import type { Created, CreateOptions } from '../operations/create.ts'
import type { CallOptions, ParentsOptions } from '../call-options.ts'
import type { Runtime } from '../runtime/runtime.ts'

type Options = CreateOptions & ParentsOptions & CallOptions

/** A create, as it is asked for each time. */
export interface Creation {
  readonly data: Data | undefined
  readonly options: Options
}

/** It may be sent again, when the caller has changed what it gave. */
export function snapshot({ data, options }: Creation): Creation {
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

/** How long the caller waits. */
export interface Patience {
  readonly runtime: Pick<Runtime, 'now'>
  readonly until: number
  readonly signal: AbortSignal | undefined
}

const timeLeft = ({ runtime, until }: Patience) => until - runtime.now()

/** Asks for one node, for so many ms. */
export type Make = (path: string, mode: ParentMode, timeout: number) => Promise<unknown>

export interface Making {
  /** The node above, in the whole tree. */
  readonly above: string
  readonly make: Make
  readonly create: (timeout: number) => Promise<Created>
}

/**
 * A create whose parent was missing: makes what is above, and tries again for as long as there is time. A connection that
 * is lost meanwhile leaves nothing open about the node: it is not asked for until it is known whether its parent is there.
 */
export async function createBelow(
  { above, make, create }: Making,
  patience: Patience,
  noNode: KeeperError,
): Promise<Created> {
  for (;;) {
    if (timeLeft(patience) <= 0) throw noNode
    const hindrance = await makePath(above, 'CONTAINER', make, patience)
    if (timeLeft(patience) <= 0) throw noNode
    try {
      return await create(timeLeft(patience))
    } catch (error) {
      if (wasAborted(error, patience.signal) || !KeeperError.is(error, 'NoNode')) throw error
      if (hindrance !== undefined && !isTransient(hindrance)) throw hindrance
    }
  }
}

/** What the nodes are made as. */
export type ParentMode = 'CONTAINER' | 'PERSISTENT'

/** Makes this node of the whole tree, and all above it. Resolves with what was in the way. */
export function makePath(path: string, mode: ParentMode, make: Make, patience: Patience): Promise<unknown> {
  const names = path === '/' ? [] : path.split('/').slice(1)
  const paths = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return makeNodes(paths, mode, make, patience)
}

/**
 * From the top. Says why the last one is not there: what was in the way first, as a node above may exist where this client
 * may not make one.
 */
async function makeNodes(paths: readonly string[], mode: ParentMode, make: Make, patience: Patience): Promise<unknown> {
  const failures = await makeOnce(paths, mode, make, patience)
  const last = failures.at(-1)
  if (last === undefined || wasAborted(last, patience.signal)) return last
  // A busy server has put off one of them, and not those below it: there is more now than there was.
  const there = failures.lastIndexOf(undefined) + 1
  const isFurther = there > 0 && KeeperError.is(last, 'NoNode', 'QueueFull')
  if (isFurther && timeLeft(patience) > 0) return makeNodes(paths.slice(there), mode, make, patience)
  return failures.find((failure) => failure !== undefined)
}

/** Says of each what was in the way, undefined where it is there now. */
async function makeOnce(
  paths: readonly string[],
  mode: ParentMode,
  make: Make,
  patience: Patience,
): Promise<unknown[]> {
  const all = async (mode: ParentMode) => {
    const asked = paths.map((path) => make(path, mode, Math.max(0, timeLeft(patience))))
    const results = await Promise.allSettled(asked)
    return results.map((each) => (each.status === 'fulfilled' ? undefined : unlessThere(each.reason, patience.signal)))
  }
  const failures = await all(mode)
  // Servers before 3.5.1 know no containers. They close the connection over it, so the other answers mean nothing.
  const isUnknown = mode === 'CONTAINER' && failures.some((failure) => KeeperError.is(failure, 'Unimplemented'))
  return isUnknown ? await all('PERSISTENT') : failures
}

function unlessThere(error: unknown, signal: AbortSignal | undefined): unknown {
  return KeeperError.is(error, 'NodeExists') && !wasAborted(error, signal) ? undefined : error
}

/** It need not be so next time. */
function isTransient(error: unknown): boolean {
  return KeeperError.is(error) && (error.outcomeUnknown || KeeperError.is(error, ...TRANSIENT))
}

const TRANSIENT = ['ConnectionLoss', 'RequestTimeout', 'ThrottledOp', 'NoNode'] as const

/** For `parents`, which may be in plain JavaScript what it likes. */
export function wantsParents(parents: ParentsOptions['parents']): boolean {
  if (parents === undefined || typeof parents === 'boolean') return parents === true
  if (typeof parents === 'object' && parents !== null) return true
  throw new TypeError('parents must be true, false or { acl }')
}

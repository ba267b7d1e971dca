// Creates missing nodes above a node.
import { parentOf } from '@zk/wire'
import { failuresOf } from '../base/failures.ts'
import { wasAborted } from '../base/aborts.ts'
import { atCaller, KeeperError } from '../base/errors.ts'
import { checkACL, type Data, isBytes } from '../base/arguments.ts'
import { noChroot } from '../base/chroot.ts'
import { throwIfAborted } from '../base/signals.ts'
import { create, type Created, type CreateOptions, isSequential } from '../operations/create.ts'
import {
  type CallOptions,
  checkCallOptions,
  type EnsureOptions,
  expecting,
  optionNames,
  type ParentsOptions,
} from '../operations/call-options.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Calls } from './calls.ts'

type Options = CreateOptions & ParentsOptions & CallOptions

const ensureOptions = optionNames('acl')

/** Creates a node, and with the option `parents` the missing nodes above it. */
export async function createWithParents(
  calls: Calls,
  path: string,
  data: Data | undefined,
  options: Options,
): Promise<Created> {
  checkCallOptions('create', options, create.options?.known, create.options?.example)
  const { runtime } = calls.sessions
  const session = calls.sessionOf(options)
  const { timeout = session.timeout, signal } = options
  const makesParents = wantsParents(options.parents)
  const creation = makesParents ? snapshot({ data, options }) : { data, options }
  const until = runtime.now() + timeout
  try {
    const callOptions = makesParents ? expecting(options, 'NoNode') : options
    return await calls.submit(create, [path, creation.data, creation.options], callOptions)
  } catch (error) {
    const isMissing = makesParents && !wasAborted(error, signal) && KeeperError.is(error, 'NoNode')
    if (!isMissing) throw atCaller(error, signal)
    const { parents, ...each } = { ...creation.options, session }
    const parentPath = parentOf(calls.chroot.absolute(path, { sequential: isSequential(each.mode) }))
    const makeNode = maker(calls, typeof parents === 'object' ? parents.acl : undefined, each)
    const again = (timeout: number) => createWithParents(calls, path, creation.data, { ...each, timeout })
    return createAfterParents({ parentPath, makeNode, create: again }, { runtime, until, signal }, error)
  }
}

/** Creates a node and all missing nodes above it, in this mode. */
export async function ensure(
  calls: Calls,
  name: string,
  mode: PathMode,
  path: string,
  given: EnsureOptions,
): Promise<void> {
  checkCallOptions(name, given, ensureOptions)
  const { acl: callersACL, ...options } = given
  // A copy: it is read again for each node, and the caller may overwrite its own.
  const acl = callersACL && checkACL(callersACL)
  const session = calls.sessionOf(options)
  const { timeout = session.timeout, signal } = options
  const absolute = calls.chroot.absolute(path)
  // The root exists: nothing is sent.
  if (absolute === '/') {
    throwIfAborted(signal)
    throwIfAborted(session.signal)
  }
  const { runtime } = calls.sessions
  const limit = { runtime, until: runtime.now() + timeout, signal }
  const failure = await makePath(absolute, mode, maker(calls, acl, { ...options, session }), limit)
  if (failure !== undefined) throw atCaller(failure, signal)
}

/** Makes the function that creates missing nodes. Their paths already include the chroot. */
function maker(calls: Calls, acl: CreateOptions['acl'], options: CallOptions): MakeNode {
  return (path, mode, timeout) =>
    calls.submit(create, [path, undefined, { mode, acl }], expecting({ ...options, timeout }, 'NodeExists'), noChroot)
}

/** The arguments of a create, kept to repeat it. */
interface CreateArguments {
  readonly data: Data | undefined
  readonly options: Options
}

/** A copy of the arguments: the caller may change them before the request is repeated. */
function snapshot({ data, options }: CreateArguments): CreateArguments {
  const { acl, parents } = options
  const parentsCopy = typeof parents === 'object' ? { acl: checkACL(parents.acl) } : parents
  return {
    data: isBytes(data) ? new Uint8Array(data) : data,
    options: { ...options, acl: acl && checkACL(acl), parents: parentsCopy },
  }
}

/** Until when the caller waits, by which clock, and the caller's signal. */
interface WaitLimit {
  readonly runtime: Pick<Runtime, 'now'>
  readonly until: number
  readonly signal: AbortSignal | undefined
}

const timeLeft = ({ runtime, until }: WaitLimit) => until - runtime.now()

/** Creates one node. `path` includes the chroot, and `timeout` is in ms. */
type MakeNode = (path: string, mode: PathMode, timeout: number) => Promise<unknown>

interface MissingParent {
  /** The path of the parent on the server, with the chroot. */
  readonly parentPath: string
  readonly makeNode: MakeNode
  readonly create: (timeout: number) => Promise<Created>
}

/**
 * Repeats a create whose parent was missing: creates the nodes above it and sends the create again, as long as there is time.
 * The create is sent again only after the requests for the nodes above have settled. So if the connection is lost during
 * these, the node itself was certainly not created.
 */
async function createAfterParents(
  { parentPath, makeNode, create }: MissingParent,
  limit: WaitLimit,
  noNode: KeeperError,
): Promise<Created> {
  for (;;) {
    if (timeLeft(limit) <= 0) throw noNode
    const parentError = await makePath(parentPath, 'CONTAINER', makeNode, limit)
    if (timeLeft(limit) <= 0) throw noNode
    try {
      return await create(timeLeft(limit))
    } catch (error) {
      if (wasAborted(error, limit.signal) || !KeeperError.is(error, 'NoNode')) throw error
      if (parentError !== undefined && !mayCreateLater(parentError)) throw parentError
    }
  }
}

type PathMode = 'CONTAINER' | 'PERSISTENT'

/**
 * Creates the node at this path, which includes the chroot, and all missing nodes above it. Does not reject: resolves with
 * undefined if the node exists then, and otherwise with the error.
 */
function makePath(path: string, mode: PathMode, makeNode: MakeNode, limit: WaitLimit): Promise<unknown> {
  const names = path === '/' ? [] : path.split('/').slice(1)
  const paths = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return makeNodes(paths, mode, makeNode, limit)
}

/**
 * Creates the nodes, the topmost first. Returns undefined if the last one exists then, and otherwise the first error. If the
 * last one exists, errors of the others do not matter: this client may lack the right to create them.
 */
async function makeNodes(
  paths: readonly string[],
  mode: PathMode,
  makeNode: MakeNode,
  limit: WaitLimit,
): Promise<unknown> {
  const failures = await attempt(paths, mode, makeNode, limit)
  const last = failures.at(-1)
  if (last === undefined || wasAborted(last, limit.signal)) return last
  // If a busy server, or our own full queue, has refused one node, the nodes below it had no parent. Another attempt may
  // create more nodes.
  const existing = failures.lastIndexOf(undefined) + 1
  const mayGetFurther = existing > 0 && KeeperError.is(last, 'NoNode', 'QueueFull')
  if (mayGetFurther && timeLeft(limit) > 0) return makeNodes(paths.slice(existing), mode, makeNode, limit)
  return failures.find((failure) => failure !== undefined)
}

/** Creates the nodes. Returns the error of each; undefined for a node that exists now. */
async function attempt(
  paths: readonly string[],
  mode: PathMode,
  makeNode: MakeNode,
  limit: WaitLimit,
): Promise<unknown[]> {
  const all = async (mode: PathMode) => {
    const making = paths.map((path) => makeNode(path, mode, Math.max(0, timeLeft(limit))))
    const failed = await failuresOf(making)
    return failed.map((failure) => failure && unlessNodeExists(failure.error, limit.signal))
  }
  const failures = await all(mode)
  // Servers before 3.5.1 do not know containers. They answer Unimplemented, and from 3.4.6 on they also close the connection,
  // which fails the other requests. So all nodes are created again, as persistent ones.
  const isUnknown = mode === 'CONTAINER' && failures.some((failure) => KeeperError.is(failure, 'Unimplemented'))
  return isUnknown ? await all('PERSISTENT') : failures
}

function unlessNodeExists(error: unknown, signal: AbortSignal | undefined): unknown {
  return KeeperError.is(error, 'NodeExists') && !wasAborted(error, signal) ? undefined : error
}

/** Whether another attempt may create the node. */
function mayCreateLater(error: unknown): boolean {
  return KeeperError.is(error) && (error.outcomeUnknown || KeeperError.is(error, ...MAY_CREATE_LATER))
}

const MAY_CREATE_LATER = ['ConnectionLoss', 'RequestTimeout', 'ThrottledOp', 'NoNode'] as const

/**
 * Whether missing parents are to be created. Throws a `TypeError` for a value of another type (possible in plain JavaScript).
 */
function wantsParents(parents: ParentsOptions['parents']): boolean {
  if (parents === undefined || typeof parents === 'boolean') return parents === true
  if (typeof parents === 'object' && parents !== null) return true
  throw new TypeError('parents must be true, false or { acl }')
}

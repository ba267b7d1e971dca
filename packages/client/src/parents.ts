// Nodes above a node, made where they are missing.
import { parentOf } from '@zk/wire'
import { KeeperError } from './errors.ts'
import type { Data } from './operations/arguments.ts'
import type { Created, CreateOptions } from './operations/create.ts'
import type { CallOptions, ParentsOptions } from './call-options.ts'
import type { ZooKeeper } from './zookeeper.ts'

type Client = Pick<ZooKeeper, 'create' | 'ensureContainer' | 'runtime'>
/** `until`: when the caller's time is up. */
type Options = CreateOptions & ParentsOptions & CallOptions & { readonly until: number }

/**
 * A create whose parent was missing: makes what is above, and tries again for as long as there is time. A connection that
 * is lost meanwhile leaves nothing open about the node: it is not asked for until it is known whether its parent is there.
 */
export async function createBelow(
  zk: Client,
  path: string,
  data: Data | undefined,
  { parents, until, ...options }: Options,
  noNode: KeeperError,
): Promise<Created> {
  const acl = typeof parents === 'object' ? parents.acl : undefined
  for (;;) {
    const waiting = { ...options, timeout: until - zk.runtime.now() }
    if (waiting.timeout <= 0) throw noNode
    const hindrance = await hindranceOf(zk.ensureContainer(parentOf(path), { ...waiting, acl }))
    const timeLeft = until - zk.runtime.now()
    if (timeLeft <= 0) throw noNode
    try {
      return await zk.create(path, data, { ...options, timeout: timeLeft })
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode')) throw error
      if (isRefusal(hindrance)) throw hindrance
    }
  }
}

/** `/a/b/c` → `/a`, `/a/b`, `/a/b/c` */
export function upTo(path: string): string[] {
  const names = path.split('/').slice(1)
  return path === '/' ? [] : names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

export type Make = (path: string, mode: 'CONTAINER' | 'PERSISTENT') => Promise<unknown>

/**
 * Makes these nodes, from the top. Says why the last one is not there: what was in the way first, as a node above may be
 * there where nobody may make one.
 */
export async function makeNodes(paths: readonly string[], make: Make, hasTime: () => boolean): Promise<unknown> {
  const failures = await makeOnce(paths, make)
  if (failures.at(-1) === undefined) return undefined
  const missing = failures.findIndex((failure) => failure !== undefined)
  // A busy server has put off one of them, and not those below it: there is more now than there was.
  const isFurther = missing > 0 && KeeperError.is(failures.at(-1), 'NoNode', 'QueueFull')
  return isFurther && hasTime() ? makeNodes(paths.slice(missing), make, hasTime) : failures[missing]
}

/** Says of each what was in the way, undefined where it is there now. */
async function makeOnce(paths: readonly string[], make: Make): Promise<unknown[]> {
  const failures = await failuresOf(paths.map((path) => make(path, 'CONTAINER')))
  // Servers before 3.5.1 know no containers. They have closed the connection over it, so that the others tell nothing.
  if (!failures.some((failure) => KeeperError.is(failure, 'Unimplemented'))) return failures
  return failuresOf(paths.map((path) => make(path, 'PERSISTENT')))
}

async function failuresOf(made: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(made)
  return results.map((result) => (result.status === 'fulfilled' ? undefined : unlessThere(result.reason)))
}

function unlessThere(error: unknown): unknown {
  return KeeperError.is(error, 'NodeExists') ? undefined : error
}

async function hindranceOf(done: Promise<void>): Promise<unknown> {
  try {
    await done
    return undefined
  } catch (error) {
    return error
  }
}

/** Said by a server that was asked, and would be said again. */
function isRefusal(error: unknown): boolean {
  return KeeperError.is(error) && !error.outcomeUnknown && !KeeperError.is(error, ...TRANSIENT)
}

const TRANSIENT = ['ConnectionLoss', 'RequestTimeout', 'ThrottledOp', 'NoNode'] as const

/** For `parents`, which may be in plain JavaScript what it likes. */
export function wantsParents(parents: ParentsOptions['parents']): boolean {
  if (parents === undefined || typeof parents === 'boolean') return parents === true
  if (typeof parents === 'object' && parents !== null) return true
  throw new TypeError('parents must be true, false or { acl }')
}

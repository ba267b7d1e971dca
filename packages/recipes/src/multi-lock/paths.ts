// The paths of a `MultiLock`, as its program gives them.
import { validatePath } from '@zk/client'

/** One lock of a `MultiLock`: the path of a `Lock`, or one side of a `SharedLock`. */
export type MultiLockPath = string | { readonly path: string; readonly mode: 'read' | 'write' }

/** Each path needs a node, and all nodes are created and deleted in one transaction. */
const MOST_PATHS = 100

export function pathOf(each: MultiLockPath): string {
  return typeof each === 'string' ? each : each.path
}

/** A path must not lie below another one: it could be a contender's node there. */
export function checkPaths(paths: unknown): asserts paths is readonly MultiLockPath[] {
  if (!Array.isArray(paths)) throw new TypeError("paths must be an array: new MultiLock(zk, ['/locks/a', '/locks/b'])")
  if (paths.length === 0 || paths.length > MOST_PATHS) {
    throw new RangeError(`there must be 1 to ${MOST_PATHS} paths, not ${paths.length}`)
  }
  for (const [index, each] of paths.entries()) checkPath(each, index)
  const sorted = (paths as MultiLockPath[]).map((each) => `${pathOf(each)}/`).sort()
  for (const [index, path] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next === undefined || !next.startsWith(path)) continue
    const [one, other] = [path.slice(0, -1), next.slice(0, -1)]
    throw new TypeError(
      one === other ? `paths has ${one} twice` : `${other} is below ${one}: no path may be below another`,
    )
  }
}

function checkPath(each: Partial<Exclude<MultiLockPath, string>> | undefined, index: number): void {
  if (typeof each === 'string') return void validatePath(each)
  if (typeof each?.path !== 'string' || (each.mode !== 'read' && each.mode !== 'write')) {
    throw new TypeError(`paths[${index}] must be a path, or { path, mode: 'read' } or { path, mode: 'write' }`)
  }
  validatePath(each.path)
}

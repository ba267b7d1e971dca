// The paths of a `MultiLock`, as its program gives them.
import { validatePath } from '@zk/client'

/** One lock of a `MultiLock`: the path of a `Lock`, or the side of a `SharedLock` that is taken. */
export type MultiLockPath = string | { readonly path: string; readonly mode: 'read' | 'write' }

/** Each is a node of its own, and all are made and deleted in one transaction. */
const MOST_PATHS = 100

export function pathOf(each: MultiLockPath): string {
  return typeof each === 'string' ? each : each.path
}

/** A line of one path may not be a node in the line of another. */
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
      one === other ? `paths has ${one} twice` : `${other} lies in ${one}: paths must not lie in each other`,
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

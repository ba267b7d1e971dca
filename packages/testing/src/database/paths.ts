import { validatePath } from '@zk/wire'

/** The path up to its last slash. For a child of the root it is '', which is another name of the root. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** The part after the last slash. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The check of a path that a create or a delete makes before it looks for the parent (validatePathForCreate). */
export const hasParent = (path: string): boolean => path.includes('/') && !path.includes('\0')

/** Nodes that no client can create or delete (DataTree.isSpecialPath). */
export const isSpecialPath = (path: string): boolean => SPECIAL.has(path)

const SPECIAL: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])

/** PathUtils.validatePath */
export function isValidPath(path: string | null): path is string {
  // The names of locks and queues, by far the most frequent, pass without the cost of an error.
  if (path === null) return false
  if (PLAIN.test(path)) return true
  try {
    validatePath(path)
    return true
  } catch {
    return false
  }
}

const PLAIN = /^(?:\/[\w-]+)+$/

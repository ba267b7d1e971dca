import { validatePath } from '@zk/wire'

/** The path up to its last slash. For a child of the root it is '', which is another name of the root. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** The part after the last slash. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The first check of a path in a create or delete, before the parent is looked up (validatePathForCreate). */
export const hasParent = (path: string): boolean => path.includes('/') && !path.includes('\0')

/** Whether no client can create or delete this node (DataTree.isSpecialPath). */
export const isSpecialPath = (path: string): boolean => SPECIAL.has(path)

const SPECIAL: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])

/** PathUtils.validatePath */
export function isValidPath(path: string | null): path is string {
  // The most frequent names, those of locks and queues, pass without the cost of an error.
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

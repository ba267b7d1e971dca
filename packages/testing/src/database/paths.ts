import { validatePath } from '@zk/wire'

/** The path up to its last slash: '' for a child of the root, which is there under that name too. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** What is behind the last slash. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** All that a create or a delete wants of a path before it looks for the parent (validatePathForCreate). */
export const hasParent = (path: string): boolean => path.includes('/') && !path.includes('\0')

/** Made by no client and deleted by none (DataTree.isSpecialPath). */
export const isSpecialPath = (path: string): boolean => SPECIAL.has(path)

const SPECIAL: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])

/** PathUtils.validatePath */
export function isValidPath(path: string | null): path is string {
  // Names of locks and queues, the most by far, without the cost of an error.
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

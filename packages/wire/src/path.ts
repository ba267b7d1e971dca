// The rules for paths of znodes (ZooKeeper's PathUtils).
import { invalid } from './invalid.ts'
import { printable } from './printable.ts'

/** Options of `validatePath`. */
export interface ValidatePathOptions {
  /** Whether the server appends ten digits to the path. If so, the path may end with '/'. */
  sequential?: boolean | undefined
}

/** Returns the path if ZooKeeper accepts it. Otherwise throws a `TypeError` that says what is wrong. */
export function validatePath(path: string, { sequential = false }: ValidatePathOptions = {}): string {
  if (typeof path !== 'string') throw invalid(path, 'path', 'a string')
  const reason = invalidPath(sequential ? `${path}1` : path)
  if (reason !== undefined) throw new TypeError(printable(`path ${JSON.stringify(path)} ${reason}`))
  return path
}

/** Why ZooKeeper does not accept the path; undefined if it does. */
export function invalidPath(path: string): string | undefined {
  if (path === '') return "must not be empty; the root is '/'"
  if (!path.startsWith('/')) return "must start with '/'"
  if (path === '/') return undefined
  if (path.endsWith('/')) return "must not end with '/'"
  const part = NO_NAME.exec(path)?.[1]
  if (part === '') return "must not have an empty name between two '/'"
  if (part !== undefined) return `must not have the relative part "${part}"`
  const at = path.search(FORBIDDEN)
  if (at === -1) return undefined
  const unit = path.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')
  return `must not have the character U+${unit} (index ${at}): control, private use, surrogates and U+FFF0 on are refused`
}

/** A name that no node can have: none at all, '.' or '..'. (A literal in the function would be a new object at each call.) */
const NO_NAME = /\/(\.{0,2})(?:\/|$)/

// The UTF-16 units that PathUtils.validatePath refuses. A character beyond U+FFFF is refused, because it is two surrogates.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/

/** The path of the parent node: '/a' for '/a/b', and '/' for '/a'. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

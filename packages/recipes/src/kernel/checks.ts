// Checks the arguments of callers, before anything is sent.
import { type ACL, Perms, validatePath, type WaitOptions, type ZooKeeper } from '@zk/client'
import { checkACL, checkKeys, checkSignal, checkTime, isBytes } from '@zk/client/internal'

/** The client and the path of a recipe. `because` says why the path must not be the root. */
export function checkPlace(zk: unknown, path: string, because: string): void {
  checkClient(zk)
  validatePath(path)
  if (path === '/') throw new TypeError(`path must not be '/': ${because}`)
}

export function checkClient(zk: unknown): void {
  if (typeof (zk as ZooKeeper | undefined)?.getChildren === 'function') return
  throw new TypeError('the first argument must be a client, the result of connect()')
}

/**
 * The ACL of the nodes that a recipe creates. They have children, so it must grant someone what is needed below them. Otherwise the
 * recipe's own next create would be refused, and nobody could delete the path.
 */
export function checkOwnACL(acl: readonly ACL[] | undefined): void {
  if (acl === undefined) return
  const granted = checkACL(acl).reduce((all, { perms }) => all | perms, 0)
  for (const right of ['CREATE', 'DELETE'] as const) {
    if ((granted & Perms[right]) === 0) throw new TypeError(`acl grants nobody ${right}, which the path needs`)
  }
}

/** Where options belong that programs give to another call. */
const elsewhere: Readonly<Record<string, string>> = {
  data: 'a contender has a label; a member that joins or enters has data, and so have nodes of your own',
}
const inConstructors: Readonly<Record<string, string>> = {
  ...elsewhere,
  timeout: 'it is an option of the calls',
  signal: 'it is an option of the calls',
}

/** Throws a `TypeError` for an unknown option, which says what to write in its place. `example` shows options of this call. */
export function checkNames(what: string, options: object, known: readonly string[], example: string): void {
  checkKeys(what, options, known, example, what.startsWith('new ') ? inConstructors : elsewhere)
}

/** The options of a call that may be ended by a time or a signal. */
export function checkWait(name: string, options: WaitOptions, known: readonly string[]): void {
  checkNames(name, options, known, '{ timeout: 5_000 }')
  checkLimits(options)
}

export function checkLimits({ timeout, signal }: WaitOptions): void {
  checkTime('timeout', timeout)
  checkSignal(signal)
}

/** Data that is written again later, when the caller may have overwritten its own. */
export function copyOf(data: Uint8Array | string): Uint8Array | string {
  return typeof data === 'string' ? data : new Uint8Array(data)
}

/** Checks the option that has the data of a node. */
export function checkData(data: unknown): void {
  if (data === undefined || typeof data === 'string' || isBytes(data)) return
  throw new TypeError('data must be a string or a Uint8Array')
}

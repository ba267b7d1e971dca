// Checks of the arguments of groups, before anything is sent.
import { type ACL, validatePath, type WaitOptions } from '@zk/client'
import { checkData, checkLimits, checkNames, checkOwnACL, checkPlace } from '../kernel/checks.ts'

const limits = ['timeout', 'signal'] as const
const calls = {
  'new Group': ['acl'],
  'new ServiceDiscovery': ['acl', 'onUnreadable'],
  join: ['name', 'data', ...limits],
  update: limits,
  register: limits,
  watchMembers: ['signal'],
  watchInstances: ['signal'],
  watchState: ['signal'],
  members: [...limits, 'repeatThrottled', 'session'],
  instances: [...limits, 'repeatThrottled', 'session'],
  names: [...limits, 'repeatThrottled', 'session'],
} as const satisfies Record<string, readonly string[]>

interface AnyOptions extends WaitOptions {
  readonly acl?: readonly ACL[] | undefined
  readonly name?: unknown
  readonly data?: unknown
}

export function checkGroup(
  name: 'new Group' | 'new ServiceDiscovery',
  zk: unknown,
  path: string,
  options: AnyOptions,
): void {
  checkPlace(zk, path, 'members need a parent node of their own')
  checkNames(name, options, calls[name], '{ acl: CREATOR_ALL_ACL }')
  checkOwnACL(options.acl)
}

/** The data of an update, which has no default. */
export function checkContent(data: unknown): void {
  checkData(data ?? null)
}

export function checkCall(name: keyof typeof calls, options: AnyOptions): void {
  checkNames(name, options, calls[name], '{ timeout: 5_000 }')
  checkLimits(options)
  checkData(options.data)
}

/** The name of a node below the path. */
export function checkName(what: string, name: unknown, path: string): void {
  if (typeof name !== 'string' || name === '' || name.includes('/')) {
    throw new TypeError(
      `${what} must be a non-empty string without a slash, not ${typeof name === 'string' ? JSON.stringify(name) : typeof name}`,
    )
  }
  validatePath(`${path}/${name}`)
}

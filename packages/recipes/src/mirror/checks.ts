// Checks of the arguments of mirrors, before anything is sent.
import { validatePath, type WaitOptions } from '@zk/client'
import { checkClient, checkLimits, checkNames } from '../kernel/checks.ts'

const mirrorOptions = ['depth', 'filter', 'maxNodes', 'maxBytes']
const syncedOptions = ['timeout', 'signal']

interface AnyOptions {
  readonly depth?: number | undefined
  readonly filter?: unknown
  readonly maxNodes?: number | undefined
  readonly maxBytes?: number | undefined
}

export function checkMirror(zk: unknown, path: string, options: AnyOptions): void {
  checkClient(zk)
  validatePath(path)
  checkNames('new Mirror', options, mirrorOptions, '{ depth: 1 }')
  const { depth, filter, maxNodes, maxBytes } = options
  checkNumber('depth', depth, 0, 'a number of levels')
  checkNumber('maxNodes', maxNodes, 1, 'a number of nodes')
  checkNumber('maxBytes', maxBytes, 1, 'a number of bytes')
  if (filter !== undefined && typeof filter !== 'function') {
    throw new TypeError("filter must be a function: { filter: (path) => !path.endsWith('.tmp') }")
  }
}

export function checkOpen(options: Pick<WaitOptions, 'signal'>): void {
  checkNames('open', options, ['signal'], '{ signal }')
  checkLimits(options)
}

export function checkSynced(options: WaitOptions): void {
  checkNames('synced', options, syncedOptions, '{ timeout: 5_000 }')
  checkLimits(options)
}

function checkNumber(name: string, value: number | undefined, least: number, what: string): void {
  if (value === undefined || value === Infinity || (Number.isInteger(value) && value >= least)) return
  throw new RangeError(`${name} must be ${what}, a whole number, ${least} or more, or Infinity, not ${String(value)}`)
}

// Checks the arguments of callers, before anything is sent.
import { type ACL, type CallOptions, validatePath, type ZooKeeper } from '@zk/client'
import { checkACL, checkBoolean, checkKeys, checkSignal, checkTime, isBytes } from '@zk/client/internal'
import type { RunOptions } from './acquirable.ts'
import type { HeldWhile, HoldOptions } from './hold-options.ts'

const heldWhiles: readonly HeldWhile[] = ['confirmed', 'connected', 'sessionAlive']

const readOptions = ['timeout', 'signal', 'repeatThrottled', 'session']
/** The names of options that several recipes or methods have. */
export const lockOptions = ['label', 'acl', 'heldWhile', 'followerRelayDelay']
export const tryOptions = ['timeout', 'signal', 'onSuspended', 'onResumed']
export const acquireOptions = ['timeout', 'signal', 'onQueued', 'onSuspended', 'onResumed']
export const runOptions = [...acquireOptions, 'onLost']

/** Checks the arguments of a recipe's constructor. `known` are the names of its options. */
export function checkRecipe(
  name: string,
  zk: unknown,
  path: string,
  options: AnyRecipeOptions,
  known: readonly string[],
): void {
  checkPlace(zk, path, 'contenders need a node of their own to queue below')
  checkKeys(`new ${name}`, options, known, "{ heldWhile: 'confirmed' }")
  checkData('label', options.label)
  checkData('data', options.data)
  if (options.acl !== undefined) checkACL(options.acl)
  checkHoldOptions(options)
  checkBoolean('reentrant', options.reentrant)
}

/** The client and the path of a recipe. `because` says why the path must not be the root. */
export function checkPlace(zk: unknown, path: string, because: string): void {
  checkClient(zk)
  validatePath(path)
  if (path === '/') throw new TypeError(`path must not be '/': ${because}`)
}

export function checkClient(zk: unknown): void {
  if (typeof (zk as ZooKeeper | undefined)?.getChildren === 'function') return
  throw new TypeError('the first argument must be a client, as connect() resolves with')
}

interface AnyRecipeOptions extends HoldOptions {
  readonly label?: string | undefined
  readonly data?: Uint8Array | string | undefined
  readonly acl?: readonly ACL[] | undefined
  readonly reentrant?: boolean | undefined
}

/** The options of a call; those of a call that only reads, if no others are `known`. */
export function checkCall(
  name: string,
  options: RunOptions | CallOptions,
  known: readonly string[] = readOptions,
): void {
  checkWait(name, options, known)
  const { onLost, onQueued, onSuspended, onResumed }: RunOptions = options
  checkListener('onQueued', onQueued)
  checkListener('onSuspended', onSuspended)
  checkListener('onResumed', onResumed)
  if (onLost !== undefined && onLost !== 'reject' && onLost !== 'ignore') {
    throw new TypeError(`onLost must be 'reject' or 'ignore', not ${String(onLost)}`)
  }
}

function checkListener(name: string, listener: unknown): void {
  if (listener !== undefined && typeof listener !== 'function') throw new TypeError(`${name} must be a function`)
}

/** The options of a call that may be ended by a time or a signal. */
export function checkWait(
  name: string,
  options: Pick<RunOptions, 'timeout' | 'signal'>,
  known: readonly string[],
): void {
  checkKeys(name, options, known, '{ timeout: 5_000 }')
  checkLimits(options)
}

export function checkLimits({ timeout, signal }: Pick<CallOptions, 'timeout' | 'signal'>): void {
  checkTime('timeout', timeout)
  checkSignal(signal)
}

const MOST_PERMITS = 1_000_000
/** What one transaction can take. */
const MOST_AT_ONCE = 1_000

export function checkPermits(permits: unknown): void {
  if (isInteger(permits, MOST_PERMITS)) return
  throw new RangeError(`permits must be a whole number from 1 to ${MOST_PERMITS}, not ${String(permits)}`)
}

/** `permits` is how many there are, if that is known. */
export function checkCount(count: number, permits: number | undefined): void {
  if (!isInteger(count, MOST_AT_ONCE)) {
    throw new RangeError(`count must be a whole number from 1 to ${MOST_AT_ONCE}, not ${String(count)}`)
  }
  if (permits === undefined || count <= permits) return
  throw new RangeError(`count is ${count}, and there are only ${permits} permits`)
}

function isInteger(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
}

function checkHoldOptions({ heldWhile, followerRelayDelay }: HoldOptions): void {
  if (heldWhile !== undefined && !heldWhiles.includes(heldWhile)) {
    throw new TypeError(`heldWhile must be one of ${heldWhiles.join(', ')}, not ${heldWhile as string}`)
  }
  checkTime('followerRelayDelay', followerRelayDelay)
}

/** Data that is written again later, when the caller may have overwritten its own. */
export function copyOf(data: Uint8Array | string): Uint8Array | string {
  return typeof data === 'string' ? data : new Uint8Array(data)
}

/** Checks the option that has the data of a node. */
export function checkData(name: 'label' | 'data', data: unknown): void {
  if (data === undefined || typeof data === 'string' || isBytes(data)) return
  throw new TypeError(`${name} must be a string or a Uint8Array`)
}

export function checkBody(body: unknown): void {
  if (typeof body !== 'function') throw new TypeError('run takes a function: run(async (held) => { … })')
}

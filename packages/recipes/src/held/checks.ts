// Checks the arguments of callers of the recipes that hold something.
import type { ACL, CallOptions } from '@zk/client'
import { checkBoolean, checkTime } from '@zk/client/internal'
import { checkNames, checkOwnACL, checkPlace, checkWait } from '../kernel/checks.ts'
import type { HeldWhile, HoldOptions } from '../lease/hold-options.ts'
import type { RunOptions } from './acquirable.ts'

const heldWhiles: readonly HeldWhile[] = ['confirmed', 'connected', 'sessionAlive']

const readOptions = ['timeout', 'signal', 'repeatThrottled', 'session']
/** The names of options that several recipes or methods have. */
export const lockOptions = ['label', 'acl', 'heldWhile', 'followerRelayDelay']
export const tryOptions = ['timeout', 'signal', 'onSuspended', 'onResumed']
export const acquireOptions = ['timeout', 'signal', 'onQueued', 'onSuspended', 'onResumed']
export const runOptions = [...acquireOptions, 'onLost']
export const tryRunOptions = [...tryOptions, 'onLost']

/** Checks the arguments of a recipe's constructor. `known` are the names of its options. */
export function checkRecipe(
  name: string,
  zk: unknown,
  path: string,
  options: AnyRecipeOptions,
  known: readonly string[],
): void {
  checkPlace(zk, path, 'contenders need a parent node of their own')
  checkNames(`new ${name}`, options, known, "{ heldWhile: 'confirmed' }")
  if (options.label !== undefined && typeof options.label !== 'string') throw new TypeError('label must be a string')
  checkOwnACL(options.acl)
  checkHoldOptions(options)
  checkBoolean('reentrant', options.reentrant)
}

interface AnyRecipeOptions extends HoldOptions {
  readonly label?: string | undefined
  readonly acl?: readonly ACL[] | undefined
  readonly reentrant?: boolean | undefined
}

/** The options of a call; the options of a call that only reads, if no others are `known`. */
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

function checkHoldOptions({ heldWhile, followerRelayDelay }: HoldOptions): void {
  if (heldWhile !== undefined && !heldWhiles.includes(heldWhile)) {
    throw new TypeError(`heldWhile must be one of ${heldWhiles.join(', ')}, not ${heldWhile as string}`)
  }
  checkTime('followerRelayDelay', followerRelayDelay)
}

export function checkBody(name: string, body: unknown): void {
  if (typeof body !== 'function') throw new TypeError(`${name} takes a function: ${name}(async (held) => { … })`)
}

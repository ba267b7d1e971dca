// What users may pass, checked before anything is sent.
import { type ACL, validatePath, type ZooKeeper } from '@zk/client'
import type { AcquireOptions } from './acquirable.ts'
import type { HeldWhile, HoldOptions } from './hold-options.ts'

const heldWhiles: readonly HeldWhile[] = ['confirmed', 'connected', 'sessionAlive']

export function checkClient(zk: unknown): void {
  if (typeof (zk as ZooKeeper | undefined)?.getChildren === 'function') return
  throw new TypeError('the first argument must be a client, as connect() resolves with')
}

export function checkPath(path: string): string {
  validatePath(path)
  if (path === '/') throw new TypeError("path must not be '/': contenders need a node of their own to queue below")
  return path
}

export function checkAcquireOptions({ timeout, signal, onQueued, onSuspended, onResumed }: AcquireOptions): void {
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
    throw new RangeError(`timeout must be a number of ms, 0 or more, not ${String(timeout)}`)
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal must be an AbortSignal')
  for (const [name, listener] of Object.entries({ onQueued, onSuspended, onResumed })) {
    if (listener !== undefined && typeof listener !== 'function') throw new TypeError(`${name} must be a function`)
  }
}

export function checkHoldOptions({ heldWhile, followerRelayDelay }: HoldOptions): void {
  if (heldWhile !== undefined && !heldWhiles.includes(heldWhile)) {
    throw new TypeError(`heldWhile must be one of ${heldWhiles.join(', ')}, not ${heldWhile as string}`)
  }
  if (followerRelayDelay !== undefined && !(typeof followerRelayDelay === 'number' && followerRelayDelay >= 0)) {
    throw new RangeError(`followerRelayDelay must be a number of ms, 0 or more, not ${String(followerRelayDelay)}`)
  }
}

/** What is stored in a contender's node, under the name of the option; and the rights to it. */
export function checkNode(name: 'label' | 'data', data: unknown, acl: unknown): void {
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
    throw new TypeError(`${name} must be a string or a Uint8Array`)
  }
  if (acl === undefined) return
  const isEntry = (entry: Partial<ACL> | undefined) =>
    Number.isInteger(entry?.perms) && typeof entry?.id?.scheme === 'string' && typeof entry.id.id === 'string'
  if (!Array.isArray(acl) || acl.length === 0 || !acl.every(isEntry)) {
    throw new TypeError('acl must be a list of { perms, id: { scheme, id } } with at least one entry')
  }
}

export function checkBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`)
}

export function checkBody(body: unknown): void {
  if (typeof body !== 'function') throw new TypeError('run takes a function: run(async (held) => { … })')
}

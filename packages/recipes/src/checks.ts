// What users may pass, checked before anything is sent.
import { validatePath, type ZooKeeper } from '@zk/client'
import type { AcquireOptions } from './acquirable.ts'

export function checkClient(zk: unknown): void {
  if (typeof (zk as ZooKeeper | undefined)?.getChildren === 'function') return
  throw new TypeError('the first argument must be a client, as connect() resolves with')
}

export function checkPath(path: string): string {
  validatePath(path)
  if (path === '/') throw new TypeError("path must not be '/': contenders need a node of their own to queue below")
  return path
}

export function checkAcquireOptions({ timeout, signal, onQueued }: AcquireOptions): void {
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
    throw new RangeError(`timeout must be a number of ms, 0 or more, not ${String(timeout)}`)
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal must be an AbortSignal')
  if (onQueued !== undefined && typeof onQueued !== 'function') throw new TypeError('onQueued must be a function')
}

export function checkBody(body: unknown): void {
  if (typeof body !== 'function') throw new TypeError('run takes a function: run(async (held) => { … })')
}

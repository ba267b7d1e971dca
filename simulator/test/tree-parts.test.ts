import { describe, expect, test } from 'vitest'
import type { LoggedTxn, Txn } from '@zk/testing'
import { allParts, part, theRest } from '../src/exhaustive/footprint.ts'
import { TreeParts } from '../src/exhaustive/tree-parts.ts'

const parts = new TreeParts(['/a', '/a/b'])

function logOf(...txns: Txn[]): LoggedTxn[] {
  return txns.map((txn) => ({ header: { sessionId: 1n, cxid: 1, zxid: 1n, time: 0, type: 1 }, txn }))
}

function created(path: string): Txn {
  return { type: 'create', path, data: null, acl: [], kind: 'persistent', parentCVersion: 1 }
}

describe('TreeParts', () => {
  test.each([
    ['/a', part(0)],
    ['/a/x', part(0)],
    ['/a/b', part(1)],
    ['/a/b/x', part(1)],
    ['/', theRest],
    ['/x', theRest],
    ['/ab/x', theRest],
  ])('TreeParts.readBy finds the part of %s', (path, expected) => {
    const ops = [{ name: 'getData', path }]
    expect(parts.readBy({ type: 'frame', bytes: new Uint8Array(), ops })).toBe(expected)
  })

  test('TreeParts.readBy takes all parts for a request of which it knows no node', () => {
    const ops = [{ name: 'getData', path: '/a' }, { name: 'removeWatches' }]
    expect(parts.readBy({ type: 'frame', bytes: new Uint8Array(), ops })).toBe(allParts)
    expect(parts.readBy({ type: 'closed' })).toBe(allParts)
  })

  test('TreeParts.readBy takes no part for a sync', () => {
    const ops = [{ name: 'getData', path: '/a' }, { name: 'sync' }]
    expect(parts.readBy({ type: 'frame', bytes: new Uint8Array(), ops })).toBe(part(0))
  })

  test('TreeParts.writtenBy adds the part of the parent, whose children change', () => {
    expect(parts.writtenBy(logOf(created('/a/x')))).toBe(part(0))
    expect(parts.writtenBy(logOf(created('/a/b')))).toBe(part(0) | part(1))
    expect(parts.writtenBy(logOf(created('/a')))).toBe(part(0) | theRest)
    expect(parts.writtenBy(logOf({ type: 'delete', path: '/a/b' }))).toBe(part(0) | part(1))
    expect(parts.writtenBy(logOf({ type: 'closeSession', paths: ['/a/b/x', '/y'] }))).toBe(part(1) | theRest)
  })

  test('TreeParts.writtenBy leaves out what was not executed', () => {
    const failed: Txn = { type: 'error', err: -101 }
    expect(parts.writtenBy(logOf(failed))).toBe(0)
    expect(parts.writtenBy(logOf({ type: 'multi', txns: [created('/a/x'), failed] }))).toBe(0)
  })
})

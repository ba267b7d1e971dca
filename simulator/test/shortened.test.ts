// Which sessions are left out of I1, because a server shortened them and their client could not know.
import type { HistoryEntry } from '@zk/testing'
import { describe, expect, test } from 'vitest'
import { shortenedUnnoticed } from '../src/history/shortened.ts'

const SESSION = 100n

const entry = (at: number, connection: number, message: unknown, from: 'client' | 'server') =>
  ({ at, connection, message, from, member: 'zk1', session: SESSION, fault: undefined }) as HistoryEntry

const granted = (at: number, connection: number, timeOut: number) =>
  entry(at, connection, { type: 'connected', response: { sessionId: SESSION, timeOut } }, 'server')
const asked = (at: number, connection: number) => entry(at, connection, { type: 'request', op: 'ping' }, 'client')

const cases: readonly (readonly [string, readonly HistoryEntry[], readonly bigint[]])[] = [
  ['no client if each server grants the same', [granted(0, 1, 4_000), asked(1, 1), granted(50, 2, 4_000)], []],
  ['no client if the timeout becomes longer', [granted(0, 1, 1_000), granted(50, 2, 4_000)], []],
  ['no client that sends a request behind the answer', [granted(0, 1, 4_000), granted(50, 2, 1_000), asked(60, 2)], []],
  ['a session whose client never got the answer', [granted(0, 1, 4_000), granted(50, 2, 1_000)], [SESSION]],
  [
    'a session whose client goes on elsewhere, with the longer timeout',
    [granted(0, 1, 4_000), granted(50, 2, 1_000), granted(90, 3, 4_000), asked(95, 3)],
    [SESSION],
  ],
  [
    'no client that goes on elsewhere with as short a timeout',
    [granted(0, 1, 4_000), granted(50, 2, 1_000), granted(90, 3, 1_000), asked(95, 3)],
    [],
  ],
  [
    'a session whose client has the answer when the shorter timeout has passed',
    [granted(0, 1, 4_000), granted(50, 2, 1_000), asked(1_050, 2)],
    [SESSION],
  ],
  ['no client that is notified of the expiry', [granted(0, 1, 4_000), granted(50, 2, 0)], []],
]

describe('shortenedUnnoticed', () => {
  test.each(cases)('shortenedUnnoticed leaves out %s', (_, entries, expected) => {
    expect([...shortenedUnnoticed(entries)]).toEqual(expected)
  })
})

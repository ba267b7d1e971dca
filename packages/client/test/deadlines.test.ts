import { expect, test } from 'vitest'
import { backoff, deadlines } from '../src/session/protocol/deadlines.ts'

const three = { T: 30_000, servers: 3 }

test.each([
  ['connect', 10_000],
  ['silence', 20_000],
  ['answer', 20_000],
  ['ping', 10_000],
  ['request', 30_000],
  ['close', 15_000],
  ['farewell', 1_000],
  ['reconnect', 1_000],
  ['probe', 1_000],
  ['renew', 1_000],
] as const)('deadlines.%s is %i ms for T = 30 s and three servers', (name, expected) => {
  expect(deadlines[name](three)).toBe(expected)
})

test('deadlines has no deadline besides these', () => {
  expect(Object.keys(deadlines)).toHaveLength(14)
})

test.each([3, 5, 30])('deadlines.connect lets %i servers be tried within T', (servers) => {
  expect(deadlines.connect({ T: 30_000, servers }) * servers).toBeCloseTo(30_000)
})

test('deadlines.connect tries a single address again after T/3: it may stand for many servers', () => {
  expect(deadlines.connect({ T: 30_000, servers: 1 })).toBe(10_000)
})

test('deadlines.ping leaves a ping as long for its answer as deadlines.silence has left', () => {
  for (const T of [1, 4_000, 30_000]) {
    expect(deadlines.ping({ T, servers: 1 }) * 2).toBeCloseTo(deadlines.silence({ T, servers: 1 }))
  }
})

test('deadlines.reconnect and deadlines.renew stay small beside a short T', () => {
  expect(deadlines.reconnect({ T: 3_000, servers: 1 })).toBe(100)
  expect(deadlines.renew({ T: 3_000, servers: 1 })).toBe(100)
})

test('backoff doubles from 100 ms and stops at 10 s', () => {
  const rounds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000, 1e9]
  expect(rounds.map((round) => backoff(round, { T: 100_000, servers: 1 }))).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000,
  ])
})

test('backoff is never over T/10', () => {
  expect(backoff(1_000, { T: 6_000, servers: 3 })).toBe(600)
})

test('backoff of a T that no server has granted yet is that of 1 s, however short it is', () => {
  expect(backoff(1, { T: 1, servers: 3 })).toBe(100)
  expect(backoff(1_000, { T: 1, servers: 3 })).toBe(100)
})

test('localExpiry is that of the Java client unless a longer time is asked for (ZOOKEEPER-4508)', () => {
  const times = { T: 30_000, servers: 1 }
  expect(deadlines.localExpiry(times)).toBe(40_000)
  expect(deadlines.localExpiry(times, 50_000)).toBe(50_000)
  expect(deadlines.localExpiry(times, 1)).toBe(30_000)
})

test('deadlines.connect leaves time for a handshake however short the T that is asked for', () => {
  expect(deadlines.connect({ T: 1, servers: 3 })).toBe(200)
})

test('deadlines.connect leaves time for a far server with any number of servers', () => {
  expect(deadlines.connect({ T: 30_000, servers: 100 })).toBe(1_000)
  expect(deadlines.connect({ T: 1_500, servers: 100 })).toBe(500)
})

test.each([
  [7, [1_000, 2_000, 4_000, 4_000]],
  [1, [4_000 / 3, 2_000, 4_000, 4_000]],
])('deadlines.connect at %i servers doubles what is enough in each slow round, up to T', (servers, expected) => {
  const rounds = [0, 1, 2, 1e9]
  expect(rounds.map((round) => deadlines.connect({ T: 4_000, servers }, round))).toEqual(expected)
})

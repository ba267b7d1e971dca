import type { ServerAddress } from '@zk/wire'
import { expect, test } from 'vitest'
import { backoff, deadlines } from '../src/session/protocol/deadlines.ts'
import { ServerPicker } from '../src/session/servers/server-picker.ts'
import { Jitter } from '../src/session/servers/jitter.ts'
import { StaticHostProvider } from '../src/session/servers/static-host-provider.ts'

const T = 30_000

/** Draws the upper end of every range, and leaves the order as it is. */
class Longest extends Jitter {
  override upTo(limit: number): number {
    return limit
  }

  override shuffled<T>(items: readonly T[]): T[] {
    return [...items]
  }
}

function servers(count: number) {
  return Array.from({ length: count }, (_, index) => ({ host: `zk${index + 1}`, port: 2181 }))
}

const [zk1, zk2] = servers(2) as [ServerAddress, ServerAddress]

function hostsOf(count: number, jitter: Jitter): ServerPicker {
  return new ServerPicker(new StaticHostProvider(servers(count), jitter), jitter)
}

function names(hosts: ServerPicker, count: number): string[] {
  return Array.from({ length: count }, () => hosts.next().host)
}

function pauseAfterFailure(hosts: ServerPicker): number {
  hosts.failed(zk1, new Error('refused'))
  return hosts.pause(T)
}

test('ServerPicker goes round and round through all servers in one order', () => {
  expect(names(hostsOf(3, new Longest(1)), 7)).toEqual(['zk1', 'zk2', 'zk3', 'zk1', 'zk2', 'zk3', 'zk1'])
})

test('ServerPicker shuffles the servers once: clients spread, each keeps its order', () => {
  const first = new Set<string>()
  for (let client = 1; client <= 100; client++) {
    const hosts = hostsOf(5, new Jitter(Math.imul(client, 0x9e3779b9)))
    const round = names(hosts, 5)
    expect([...round].sort()).toEqual(['zk1', 'zk2', 'zk3', 'zk4', 'zk5'])
    expect(names(hosts, 5)).toEqual(round)
    first.add(round[0]!)
  }
  expect(first.size).toBe(5)
})

test('Hosts.pause is none within a round, and after each failed round twice as long', () => {
  const hosts = hostsOf(3, new Longest(1))
  const pauses = Array.from({ length: 12 }, () => pauseAfterFailure(hosts))
  expect(pauses).toEqual([0, 0, 100, 0, 0, 200, 0, 0, 400, 0, 0, 800])
})

test('Hosts.pause takes every failure for a round where there is one server', () => {
  const hosts = hostsOf(1, new Longest(1))
  const pauses = Array.from({ length: 9 }, () => pauseAfterFailure(hosts))
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, T / 10, T / 10, T / 10, T / 10])
})

test('Hosts.pause after failures is drawn from 0 to the back-off of the round', () => {
  const hosts = hostsOf(1, new Jitter(0x5eed))
  const shares: number[] = []
  for (let round = 1; round <= 500; round++) {
    const limit = backoff(round, { T, servers: 1 })
    const pause = pauseAfterFailure(hosts)
    expect(pause).toBeGreaterThanOrEqual(0)
    expect(pause).toBeLessThan(limit)
    shares.push(pause / limit)
  }
  expect(Math.min(...shares)).toBeLessThan(0.02)
  expect(Math.max(...shares)).toBeGreaterThan(0.98)
})

test('Hosts.held starts the back-off anew', () => {
  const hosts = hostsOf(1, new Longest(1))
  for (let failure = 0; failure < 5; failure++) hosts.failed(zk1, new Error('refused'))
  hosts.held()
  expect(pauseAfterFailure(hosts)).toBe(100)
})

test('Hosts.attempts says how often each server was tried and what the last attempt ended with', () => {
  const hosts = hostsOf(2, new Longest(1))
  const [refused, silent] = [new Error('refused'), new Error('silent')]
  hosts.failed(zk1, refused)
  hosts.failed(zk2, refused)
  hosts.failed(zk1, silent)
  expect(hosts.attempts).toEqual([
    { server: 'zk1:2181', attempts: 2, error: silent },
    { server: 'zk2:2181', attempts: 1, error: refused },
  ])
  hosts.held()
  expect(hosts.attempts).toEqual([])
})

test('Hosts.pause after a connection that held is drawn from 0 to deadlines.reconnect', () => {
  const limit = deadlines.reconnect({ T, servers: 3 })
  expect(hostsOf(3, new Longest(1)).pause(T)).toBe(limit)
  const hosts = hostsOf(3, new Jitter(0x5eed))
  const pauses = Array.from({ length: 200 }, () => hosts.pause(T))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...pauses)).toBeLessThan(limit)
  expect(new Set(pauses).size).toBeGreaterThan(190)
})

test('ServerPicker.search begins as quickly as the first time behind a connection that takes writes', () => {
  const servers = hostsOf(1, new Longest(1))
  const firstAt = () => servers.search(true, 0, 30_000)!.deadline
  const first = firstAt()
  for (let times = 0; times < 8; times++) servers.prefer(zk1)
  expect(firstAt()).toBeGreaterThan(4 * first)
  expect(servers.search(false, 0, 30_000)).toBeUndefined()
  expect(firstAt()).toBeLessThan(2 * first)
})

import type { ServerAddress } from '@zk/wire'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoff, deadlines } from '../src/session/protocol/deadlines.ts'
import { ServerPicker } from '../src/session/servers/server-picker.ts'
import { ServerLists } from '../src/session/servers/server-lists.ts'
import { Jitter } from '../src/session/servers/jitter.ts'
import { Names } from '../src/session/servers/names.ts'
import { Search } from '../src/session/servers/search.ts'
import { type HostProvider, StaticHostProvider } from '../src/session/servers/static-host-provider.ts'

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

function pickerOf(provider: HostProvider, jitter: Jitter, list: readonly ServerAddress[]): ServerPicker {
  return new ServerPicker(provider, jitter, { lists: new ServerLists(list), fallsBack: true })
}

function hostsOf(count: number, jitter: Jitter): ServerPicker {
  return pickerOf(new StaticHostProvider(servers(count), jitter), jitter, servers(count))
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

test('Hosts.lasted starts the back-off anew', () => {
  const hosts = hostsOf(1, new Longest(1))
  for (let failure = 0; failure < 5; failure++) hosts.failed(zk1, new Error('refused'))
  hosts.lasted()
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
  hosts.lasted()
  expect(hosts.attempts).toEqual([])
})

test('Hosts.pause after a connection that lasted is drawn from 0 to deadlines.reconnect', () => {
  const limit = deadlines.reconnect({ T, servers: 3 })
  expect(hostsOf(3, new Longest(1)).pause(T)).toBe(limit)
  const hosts = hostsOf(3, new Jitter(0x5eed))
  const pauses = Array.from({ length: 200 }, () => hosts.pause(T))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...pauses)).toBeLessThan(limit)
  expect(new Set(pauses).size).toBeGreaterThan(190)
})

test('Search begins as quickly as the first time after a connection that takes writes', () => {
  const servers = hostsOf(1, new Longest(1))
  const context = {
    servers,
    names: new Names(),
    jitter: new Longest(1),
    looksUpNames: false,
    present: zk1,
    T: 30_000,
    trialFrame: () => new Uint8Array(),
    emit: () => {},
  }
  const firstAt = () => new Search('writes', 0, context).deadline
  const first = firstAt()
  for (let times = 0; times < 8; times++) servers.foundWrites()
  expect(firstAt()).toBeGreaterThan(4 * first)
  servers.takesWrites()
  expect(firstAt()).toBeLessThan(2 * first)
})

/** The picker as plain lists, counted anew at every step. */
class Model {
  readonly #count: number
  /** By host, as its name was resolved last. */
  readonly #addresses = new Map<string, readonly string[]>()
  #untried: string[] = []
  #preferred: string | undefined
  #turn = 0
  #failures: string[] = []
  #inRound = 0
  #rounds = 0

  constructor(count: number) {
    this.#count = count
  }

  get size(): number {
    let size = 0
    for (let host = 1; host <= this.#count; host++) size += Math.max(1, this.#addresses.get(`zk${host}`)?.length ?? 1)
    return size
  }

  /** `host`, or `host address`. */
  next(): string {
    const preferred = this.#preferred
    this.#preferred = undefined
    return preferred ?? this.#untried.shift() ?? `zk${(this.#turn++ % this.#count) + 1}`
  }

  resolved(host: string, addresses: readonly string[]): string | undefined {
    this.#addresses.set(host, addresses)
    const [first, ...others] = addresses.map((address) => `${host} ${address}`)
    this.#untried = others
    return first
  }

  prefer(target: string): void {
    this.#preferred = target
  }

  failed(target: string): void {
    const [host, address] = target.split(' ')
    const isOneOfSeveral = address !== undefined && (this.#addresses.get(host!)?.length ?? 0) > 1
    this.#failures.push(isOneOfSeveral ? target : host!)
    if (++this.#inRound < this.size) return
    this.#inRound = 0
    this.#rounds++
  }

  lasted(): void {
    this.#failures = []
    this.#untried = []
    this.#inRound = 0
    this.#rounds = 0
  }

  update(): void {
    this.#addresses.clear()
    this.#untried = []
    this.#preferred = undefined
    this.#inRound = 0
    this.#rounds = 0
  }

  get pause(): number {
    if (this.#inRound > 0) return 0
    const times = { T, servers: this.size }
    return this.#rounds === 0 ? deadlines.reconnect(times) : backoff(this.#rounds, times)
  }

  get attempts(): Record<string, number> {
    const attempts: Record<string, number> = {}
    for (const key of this.#failures) attempts[key] = (attempts[key] ?? 0) + 1
    return attempts
  }
}

/** One server after the other, whatever happens. */
function roundRobin(count: number): HostProvider {
  let turn = 0
  return { size: count, next: () => servers(count)[turn++ % count]!, connected: () => {}, update: () => false }
}

const pickerStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('attempt' as const), addresses: fc.nat(3), fails: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('lasted' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('update' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('prefer' as const), host: fc.nat(2) }) },
)

test('ServerPicker does what plain lists do', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.array(pickerStep, { maxLength: 40, size: 'max' }),
      (count, steps) => {
        const [picker, model] = [pickerOf(roundRobin(count), new Longest(1), servers(count)), new Model(count)]
        for (const step of steps) {
          switch (step.does) {
            case 'attempt': {
              const target = picker.next()
              const [host, address] = model.next().split(' ')
              expect([target.host, target.address]).toEqual([host, address])
              const addresses = Array.from({ length: step.addresses }, (_, index) => `10.0.0.${index + 1}`)
              const dialed = target.address === undefined ? picker.resolved(target, addresses) : target
              const same = address === undefined ? model.resolved(host!, addresses) : `${host} ${address}`
              expect(dialed && `${dialed.host} ${dialed.address}`).toBe(same)
              if (!step.fails) break
              picker.failed(dialed ?? target, new Error('refused'))
              model.failed(same ?? host!)
              break
            }
            case 'lasted':
              picker.lasted()
              model.lasted()
              break
            case 'update':
              // The same list: what was known of its names is asked anew.
              picker.update(servers(count), 'program', undefined)
              model.update()
              break
            case 'prefer': {
              const host = `zk${(step.host % count) + 1}`
              picker.prefer({ host, port: 2181, address: '10.0.0.9' })
              model.prefer(`${host} 10.0.0.9`)
            }
          }
          expect([picker.size, picker.pause(T)]).toEqual([model.size, model.pause])
          const attempts = picker.attempts.map(({ server, address, attempts }) => {
            const host = server.replace(':2181', '')
            return [address === undefined ? host : `${host} ${address}`, attempts]
          })
          expect(Object.fromEntries(attempts)).toEqual(model.attempts)
        }
      },
    ),
    { numRuns: 300 },
  )
})

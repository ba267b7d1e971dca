// Random programs: what is true of every tree, whatever was asked.
import { CreateMode, type MultiOp, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { DataTree } from '../../src/database/index.ts'
import type { ServerRequest } from '../../src/server/request.ts'
import { bytes, Client, creating, operator, picture, Server } from './support.ts'

/** Integers from 0 up to, not including, `limit`, the same for the same seed (xorshift32). */
function randomly(seed: number): (limit: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b9) | 1
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

const NAMES = ['a', 'b', 'c', 'a/b', 'a/b/c', 'b/a', 'zookeeper', 'none/a', '', 'a/']

function randomRequest(random: (limit: number) => number, clients: readonly Client[]): ServerRequest {
  const client = clients[random(clients.length)]!
  const path = () => `/${NAMES[random(NAMES.length)]}`
  const version = () => [-1, -1, 0, 1][random(4)]!
  const flags = () => [0, 0, 1, 2, 3, 4][random(6)]!
  const part = (): MultiOp =>
    [
      { type: OpCode.create, request: creating(path(), flags()) },
      { type: OpCode.delete, request: { path: path(), version: version() } },
      { type: OpCode.setData, request: { path: path(), data: bytes('x'.repeat(random(9))), version: version() } },
      { type: OpCode.check, request: { path: path(), version: version() } },
    ][random(4)] as MultiOp
  const kind = random(12)
  if (kind < 4) return client.request('create2', creating(path(), flags()))
  if (kind < 5) return client.request('createContainer', creating(path(), CreateMode.CONTAINER))
  if (kind < 7) return client.request('delete', { path: path(), version: version() })
  if (kind < 8)
    return client.request('setData', { path: path(), data: bytes('x'.repeat(random(9))), version: version() })
  if (kind < 9) return client.request('setACL', { path: path(), acl: creating('').acl, version: version() })
  if (kind < 11) return client.request('multi', Array.from({ length: random(5) }, part))
  return random(4) === 0
    ? client.request('closeSession', undefined)
    : client.request('check', { path: path(), version: -1 })
}

/** A server after some hundred requests of three sessions, some of them outstanding together. */
function* history(seed: number, steps: number, server = new Server()): Generator<Server> {
  const random = randomly(seed)
  const clients = [new Client(1n), new Client(2n), new Client(3n)]
  for (let step = 0; step < steps; step++) {
    server.prepare(randomRequest(random, clients))
    if (random(3) > 0) continue
    server.commit()
    yield server
  }
  server.commit()
  yield server
}

const seeds = Array.from({ length: 40 }, (_, seed) => seed)

function violations({ tree }: Server): string[] {
  const found: string[] = []
  const must = (holds: boolean, what: string) => holds || found.push(what)
  const paths = [...tree.paths()]
  let owned = 0
  let size = 0
  for (const path of paths) {
    const node = tree.get(path)!
    const { czxid, mzxid, pzxid, ephemeralOwner } = node
    const parent = tree.get(path.slice(0, path.lastIndexOf('/')))
    must(path === '/' || parent!.children.has(path.slice(path.lastIndexOf('/') + 1)), `${path}: its parent knows it`)
    must(node.listChildren().sort().join() === [...node.children].sort().join(), `${path}: its list is its children`)
    must(mzxid >= czxid && pzxid >= czxid, `${path}: was created first`)
    must(mzxid <= tree.lastProcessedZxid && pzxid <= tree.lastProcessedZxid, `${path}: no change of the future`)
    for (const name of node.children) {
      const child = tree.get(`${path === '/' ? '' : path}/${name}`)
      must(child !== undefined && pzxid >= child.czxid, `${path}: pzxid is not older than its child ${name}`)
    }
    if (ephemeralOwner > 0n) {
      owned++
      must(node.childCount === 0, `${path}: is ephemeral and has no children`)
      must(tree.ephemerals(ephemeralOwner).has(path), `${path}: is one of its session`)
    }
    size += path.length + (node.data?.byteLength ?? 0)
  }
  must(tree.ephemeralsCount === owned, 'sessions have no other ephemeral nodes')
  must(tree.nodeCount === paths.length + 1, 'the root counts twice')
  must(tree.approximateDataSize === size, 'the size is that of paths and data')
  return found
}

describe('After any requests', () => {
  test.each(seeds)('the tree is consistent (seed %i)', (seed) => {
    for (const server of history(seed, 150)) expect(violations(server)).toEqual([])
  })

  test('cversion counts creations and deletions: a creation for each child ever, a deletion for each that is gone', () => {
    for (const seed of seeds) {
      for (const server of history(seed, 60)) {
        const wrong = [...server.tree.paths()].filter((path) => {
          const { cversion, numChildren } = server.stat(path)
          const created = server.tree.get(path)!.cversion
          return cversion !== created + (created - numChildren)
        })
        expect(wrong).toEqual([])
      }
    }
  })

  test('what is prepared is what happens: no transaction fails when it is applied', () => {
    for (const seed of seeds) {
      const { log, results } = [...history(seed, 150)].at(-1)!
      for (const [i, { txn }] of log.entries()) {
        const parts = txn.type === 'multi' ? txn.txns : [txn]
        const refused = parts.find((part) => part.type === 'error')
        expect(results[i]?.err).toBe(refused?.err ?? 0)
      }
    }
  })

  test('the same log makes the same tree', () => {
    for (const seed of seeds.slice(0, 20)) {
      const server = [...history(seed, 150)].at(-1)!
      const replica = new DataTree()
      for (const logged of server.log) replica.apply(logged)
      expect(picture(replica)).toEqual(picture(server.tree))
    }
  })

  test('a copy is equal, and goes its own way', () => {
    for (const seed of seeds.slice(0, 20)) {
      const server = [...history(seed, 150)].at(-1)!
      const before = picture(server.tree)
      const copy = server.tree.copy()
      expect(picture(copy)).toEqual(before)
      expect(copy.get('')).toBe(copy.get('/'))
      const zxid = server.zxid + 1n
      const header = { sessionId: 9n, cxid: 1, zxid, time: 1 }
      const data = bytes('else')
      copy.apply({ header, txn: { type: 'setData', path: '/', data, version: 99 } })
      const txn = { type: 'create', path: '/copy', data, acl: [], kind: 'ephemeral', parentCVersion: -1 } as const
      copy.apply({ header, txn })
      expect(picture(server.tree)).toEqual(before)
    }
  })

  test('a copy goes on as its original does: with its quotas, its counters and what it knows of its nodes', () => {
    for (const seed of seeds) {
      const server = new Server({ sequenceOverflow: seed % 2 === 0 ? 'stick' : 'wrap', enforceQuota: true })
      for (const about of ['/a', '/b']) {
        const quota = `/zookeeper/quota${about}`
        server.make(quota, `${quota}/zookeeper_limits`, `${quota}/zookeeper_stats`)
        const limits = {
          path: `${quota}/zookeeper_limits`,
          data: bytes('countHardLimit=3;byteHardLimit=9'),
          version: -1,
        }
        server.ask(operator.request('setData', limits))
      }
      // A used-up counter goes on in the one way or the other.
      server.make('/used-up')
      server.operate({ type: 'presetCounter', path: '/used-up', counter: 2 ** 31 - 1 })
      for (const _ of history(seed, 40, server));
      const copy = server.tree.copy()
      const known = server.log.length
      for (const _ of history(seed + 100, 40, server));
      server.make('/used-up/one', '/used-up/two')
      for (const logged of server.log.slice(known)) copy.apply(logged)
      expect(picture(copy)).toEqual(picture(server.tree))
      const growths = NAMES.slice(0, 6).flatMap((name) =>
        [1, 9].map((bytes) => [`/${name}`, { count: 1, bytes }] as const),
      )
      const checks = ({ quotas }: DataTree) => growths.map(([path, more]) => quotas.check(path, more))
      expect(checks(copy)).toEqual(checks(server.tree))
    }
  })

  test('a refused request changes nothing', () => {
    for (const seed of seeds.slice(0, 20)) {
      const random = randomly(seed)
      const server = new Server()
      const clients = [new Client(1n), new Client(2n)]
      for (let step = 0; step < 80; step++) {
        const before = picture(server.tree) as object
        server.prepare(randomRequest(random, clients))
        const [answer] = server.commit()
        const isRefused =
          (answer?.err ?? 0) !== 0 ||
          (Array.isArray(answer?.response) && answer.response.some(({ type }) => type === OpCode.error))
        if (isRefused) expect(picture(server.tree)).toEqual({ ...before, lastProcessedZxid: server.zxid })
      }
    }
  })

  test('a refused multi leaves what was prepared before it as it was', () => {
    for (const seed of seeds.slice(0, 20)) {
      // The same requests on two servers, on one with a multi in between that does much and fails in its last part.
      const [plain, disturbed] = [new Server(), new Server()]
      const [one, two] = [randomly(seed), randomly(seed)]
      const clients = [new Client(1n), new Client(2n)]
      for (let step = 0; step < 80; step++) {
        const asked = randomRequest(one, clients)
        const again = randomRequest(two, clients)
        const outcome = [plain.prepare(asked), disturbed.prepare(again)]
        // The two have other zxids, nothing else.
        expect(outcome[1]).toEqual(outcome[0])
        const parts = [creating('/a'), creating('/b'), creating('/a/b'), creating('/c/n', CreateMode.EPHEMERAL)]
        disturbed.prepare(
          clients[0]!.request('multi', [
            ...parts.slice(0, 1 + (step % 4)).map((request): MultiOp => ({ type: OpCode.create, request })),
            { type: OpCode.setData, request: { path: '/a', data: null, version: -1 } },
            { type: OpCode.delete, request: { path: '/c', version: -1 } },
            { type: OpCode.check, request: { path: '/never', version: -1 } },
          ]),
        )
        if (step % 5 === 4)
          expect(
            disturbed
              .commit()
              .filter((_, i) => i % 2 === 0)
              .map((a) => a?.err),
          ).toEqual(plain.commit().map((a) => a?.err))
      }
    }
  })

  test('programs do not only fail', () => {
    const done = seeds.flatMap((seed) => [...history(seed, 150)].at(-1)!.log.map(({ txn }) => txn.type))
    const count = (type: string) => done.filter((other) => other === type).length
    expect(count('create')).toBeGreaterThan(500)
    expect(count('delete')).toBeGreaterThan(100)
    expect(count('multi')).toBeGreaterThan(500)
    expect(count('closeSession')).toBeGreaterThan(50)
  })
})

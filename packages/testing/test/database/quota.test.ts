import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { bytes, Client, creating, Server } from './support.ts'

const client = new Client(0x10n)

/** A server on which `/app` has these limits, with one node below it. */
function limited(limits: string, { enforceQuota = true } = {}): Server {
  const server = new Server({ enforceQuota })
  const quota = [
    '/zookeeper/quota/app',
    '/zookeeper/quota/app/zookeeper_limits',
    '/zookeeper/quota/app/zookeeper_stats',
  ]
  for (const path of ['/app', '/app/one', quota[0]!]) server.ask(create(path))
  server.ask(create(quota[1]!, limits))
  server.ask(create(quota[2]!, 'count=-1,bytes=-1'))
  return server
}

const create = (path: string, data = '') => client.request('create', { ...creating(path), data: bytes(data) })
const setData = (path: string, data: string) => client.request('setData', { path, data: bytes(data), version: -1 })
const remove = (path: string) => client.request('delete', { path, version: -1 })

const stats = ({ tree }: Server) =>
  new TextDecoder().decode(tree.get('/zookeeper/quota/app/zookeeper_stats')?.data ?? undefined)

describe('stats', () => {
  test('stats go on in a copy of the tree, and end with the limits', () => {
    const server = limited('count=5,bytes=5')
    const copy = server.tree.copy()
    expect(copy.quotas.check('/app/x', { count: 1, bytes: 0 })).toBe('fine')
    server.ask(remove('/zookeeper/quota/app/zookeeper_limits'))
    server.ask(create('/app/two'))
    expect(stats(server)).toBe('count=2,bytes=0')
  })

  test('stats keep what else is in the node', () => {
    const server = limited('count=-1,bytes=-1')
    server.ask(setData('/zookeeper/quota/app/zookeeper_stats', 'countHardLimit=7;byteHardLimit=8'))
    server.ask(create('/app/two', 'a'))
    // What is not there counts as -1.
    expect(stats(server)).toBe('count=0,bytes=0=;byteHardLimit=8;countHardLimit=7')
  })
})

describe('enforceQuota', () => {
  test('a soft limit refuses nothing, nor does a hard one that is not enforced', () => {
    expect(limited('count=1,bytes=1').err(create('/app/two', 'abc'))).toBe(0)
    expect(limited('countHardLimit=1', { enforceQuota: false }).err(create('/app/two'))).toBe(0)
  })

  test('the nearest quota above a node is the one that counts', () => {
    const server = limited('countHardLimit=100')
    for (const path of ['', '/zookeeper_limits', '/zookeeper_stats']) {
      server.ask(create(`/zookeeper/quota/app/one${path}`, path === '/zookeeper_limits' ? 'countHardLimit=1' : ''))
    }
    expect(server.err(create('/app/one/x'))).toBe(ErrorCode.QuotaExceeded)
    expect(server.err(create('/app/two'))).toBe(0)
  })
})

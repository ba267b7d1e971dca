import { CreateMode, OpCode, Perms } from '@zk/wire'
import { open, type Session } from '../play/index.ts'
import { group } from './group.ts'

const { PERSISTENT, EPHEMERAL, CONTAINER, PERSISTENT_WITH_TTL, PERSISTENT_SEQUENTIAL_WITH_TTL } = CreateMode
const data = new TextEncoder().encode('x')
const LONGEST = 0xff_ffff_ffffn
/** Expires within the time limit of a test, but not before a watch is set, in ms. */
const SHORT = 2_500n
const readOnly = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

const request = (path: string | null, ttl: bigint, flags: number = PERSISTENT_WITH_TTL, acl = open) => {
  return { path, data, acl, flags, ttl }
}

const create = (session: Session, ...args: Parameters<typeof request>) => session.call('createTTL', request(...args))

export const ttl = group('TTL', {
  'a node with a TTL looks like any other': async (s) => {
    const { a, b } = await s.pair()
    await a.exists('/a', true)
    await b.getChildren('/', true)
    await create(b, '/a', 60_000n)
    await create(a, '/n-', LONGEST, PERSISTENT_SEQUENTIAL_WITH_TTL)
    await create(a, '/n-', 1_000_000n, PERSISTENT_SEQUENTIAL_WITH_TTL)
    await s.settle()
    for (const path of ['/a', '/n-0000000001']) await b.getData(path)
    await b.getChildren2('/')
    await a.create('/a/e', { flags: EPHEMERAL })
    await create(a, '/a/t', 60_000n)
    await a.create('/a/c', { op: 'createContainer', flags: CONTAINER })
    await a.setData('/a', 'y')
    await a.delete('/a')
    await a.call('getEphemerals', { prefixPath: '/' })
    await a.close()
    await s.settle()
    await b.getChildren2('/a')
    await b.close()
  },

  'createTTL refuses an invalid TTL, and flags without a TTL': async (s) => {
    const a = await s.open()
    for (const ttl of [0n, -1n, -5n, LONGEST + 1n, (1n << 63n) - 1n, -1n << 63n]) await create(a, '/a', ttl)
    for (const flags of [PERSISTENT, EPHEMERAL, CONTAINER]) await create(a, `/f${flags}`, 5n, flags)
    for (const flags of [-1, 7, 100]) await create(a, `/f${flags}`, 5n, flags)
    for (const op of ['create', 'create2', 'createContainer'] as const) {
      for (const flags of [PERSISTENT_WITH_TTL, PERSISTENT_SEQUENTIAL_WITH_TTL]) {
        await a.create(`/${op}${flags}`, { op, flags })
      }
    }
    await a.getChildren2('/')
    await a.close()
  },

  'createTTL reports errors in the same order as create': async (s) => {
    const a = await s.open()
    await a.create('/here')
    await a.create('/ephemeral', { flags: EPHEMERAL })
    await a.create('/locked', { acl: readOnly })
    for (const path of ['/here', '/missing/child', '/ephemeral/child', '/locked/child', '/here//child', '/', null]) {
      await create(a, path, 60_000n)
      await create(a, path, 0n)
      await create(a, path, 60_000n, PERSISTENT_WITH_TTL, [])
    }
    await a.close()
  },

  'a multi creates nodes with a TTL, or refuses them': async (s) => {
    const a = await s.open()
    const part = (...args: Parameters<typeof request>) => ({ type: OpCode.createTTL, request: request(...args) })
    await a.multi(part('/a', 60_000n), part('/n-', 60_000n, PERSISTENT_SEQUENTIAL_WITH_TTL), part('/p', 5n, PERSISTENT))
    await a.multi(part('/b', 60_000n), part('/c', 0n))
    await a.multi(part('/b', 60_000n), part('/a', 60_000n))
    await a.multi({ type: OpCode.create, request: request('/d', 5n, PERSISTENT_WITH_TTL) })
    await a.getChildren2('/')
    await a.getData('/a')
    await a.close()
  },

  'a node is deleted when its TTL is over, and its watches fire': async (s) => {
    const { a, b } = await s.pair()
    await create(a, '/a', SHORT)
    await create(a, '/long', 600_000n)
    await s.settle()
    await b.exists('/a', true)
    await b.getChildren('/', true)
    await b.connection.heardEvents(2)
    await b.getChildren2('/')
    await s.settle()
    await a.exists('/a')
    await a.close()
    await b.close()
  },

  'a node whose TTL is over stays while it has children': async (s) => {
    const a = await s.open()
    await create(a, '/parent', SHORT)
    await a.create('/parent/child')
    // Deleted at the servers' next check, twice.
    for (const [i, path] of ['/one', '/other'].entries()) {
      await create(a, path, SHORT)
      await a.exists(path, true)
      await a.connection.heardEvents(i + 1)
    }
    await a.exists('/parent', true)
    await a.delete('/parent/child')
    await a.connection.heardEvents(3)
    await a.getChildren2('/')
    await a.close()
  },
})

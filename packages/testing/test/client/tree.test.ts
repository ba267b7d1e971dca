// The client's helpers for whole trees.
import { connect, deleteRecursive, KeeperError, Perms, walk, type WalkOptions, type ZooKeeper } from '@zk/client'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { TestServer } from '../../src/index.ts'

let server: TestServer
let zk: ZooKeeper

beforeAll(async () => {
  server = await TestServer.start()
})

afterAll(() => server.close())

beforeEach(async () => {
  server.faults.clear()
  server.history.clear()
  for (const name of server.nodes.get('/')!.children) if (name !== 'zookeeper') server.nodes.delete(`/${name}`)
  zk = await connect(server.connectString)
  onTestFinished(() => zk.close())
})

async function walked(path?: string, options?: WalkOptions, client = zk): Promise<string[]> {
  const paths: string[] = []
  for await (const node of walk(client, path, options)) paths.push(node.path)
  return paths
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(value, 'it should have been rejected').toBeDefined()
  return value
}

const tree = ['/a', '/a/b', '/a/b/c', '/a/b/d', '/a/e', '/f', '/f/g'] as const

function plant(...paths: readonly string[]): void {
  for (const path of paths) server.nodes.create(path)
}

describe('walk', () => {
  test('walk yields each node before its children, in the order of names, with its Stat', async () => {
    plant('/f/g', '/a/e', '/a/b/d', '/a/b/c')
    expect(await walked()).toEqual(['/', ...tree])
    expect(await walked('/a/b')).toEqual(['/a/b', '/a/b/c', '/a/b/d'])
    const { value } = await walk(zk, '/a').next()
    expect(value).toMatchObject({ path: '/a', children: ['b', 'e'], stat: { numChildren: 2 } })
  })

  test('walk of a missing node yields nothing', async () => {
    expect(await walked('/none')).toEqual([])
  })

  test('walk with a depth reads no further down, and says how many children there are', async () => {
    plant(...tree)
    expect(await walked('/', { depth: 1 })).toEqual(['/', '/a', '/f'])
    const { value } = await walk(zk, '/a', { depth: 0 }).next()
    expect(value).toMatchObject({ path: '/a', children: [], stat: { numChildren: 2 } })
    expect(await walked('/none', { depth: 0 })).toEqual([])
    expect(() => walk(zk, '/', { depth: -1 })).toThrow(RangeError)
  })

  test('walk tells onUnreadable of nodes that may not be read, and leaves out what is below', async () => {
    plant('/a/b', '/a/c/d', '/a/e')
    await zk.setACL('/a/c', [{ perms: Perms.WRITE, id: { scheme: 'world', id: 'anyone' } }])
    expect(await rejection(walked('/a'))).toMatchObject({ code: 'NoAuth', path: '/a/c' })
    const unreadable: (string | undefined)[] = []
    const onUnreadable = ({ path }: KeeperError) => void unreadable.push(path)
    expect(await walked('/a', { onUnreadable })).toEqual(['/a', '/a/b', '/a/e'])
    expect(await walked('/a', { depth: 1, onUnreadable })).toEqual(['/a', '/a/b', '/a/e'])
    expect(unreadable).toEqual(['/a/c', '/a/c'])
  })

  test('walk omits /zookeeper, unless it begins there', async () => {
    expect(await walked('/')).toEqual(['/'])
    expect(await walked('/zookeeper')).toEqual(['/zookeeper', '/zookeeper/config', '/zookeeper/quota'])
    plant('/app/zookeeper')
    const below = await connect(`${server.connectString}/app`)
    onTestFinished(() => below.close())
    expect(await walked('/', {}, below)).toEqual(['/', '/zookeeper'])
  })

  test.each([1, 2, 3, 100])(
    'walk gives the same whatever it reads ahead: %i at a time, and no more',
    async (concurrency) => {
      plant('/wide')
      for (let i = 0; i < 10; i++) plant(`/wide/n${i}`, `/wide/n${i}/x`, `/wide/n${i}/y`)
      const paths = await walked('/wide', { concurrency })
      expect(paths).toEqual(paths.toSorted())
      expect(paths).toHaveLength(31)
      let [open, most] = [0, 0]
      for (const entry of server.history.entries) {
        if (entry.from !== 'client' && entry.from !== 'server') continue
        if (entry.message.type === 'request' && entry.message.op === 'getChildren2') most = Math.max(most, ++open)
        if (entry.message.type === 'reply' && entry.message.op === 'getChildren2') open--
      }
      // The next node is read in any case.
      expect(most).toBeLessThanOrEqual(concurrency + 1)
    },
  )

  test('walk omits nodes that are deleted meanwhile', async () => {
    plant(...tree)
    const nodes = walk(zk, '/', { concurrency: 1 })
    expect((await nodes.next()).value?.path).toBe('/')
    expect((await nodes.next()).value?.path).toBe('/a')
    server.nodes.delete('/f')
    server.nodes.delete('/a/e')
    const rest: string[] = []
    for await (const { path } of nodes) rest.push(path)
    expect(rest.filter((path) => path !== '/a/b/c' && path !== '/a/b/d')).toContain('/a/b')
    expect(rest).not.toContain('/f/g')
  })

  test('walk may have several next calls at a time, and may be left early', async () => {
    plant(...tree)
    const nodes = walk(zk, '/')
    const three = await Promise.all([nodes.next(), nodes.next(), nodes.next()])
    expect(three.map(({ value }) => value?.path)).toEqual(['/', '/a', '/a/b'])
    await nodes.return?.()
    expect(await nodes.next()).toEqual({ done: true, value: undefined })
  })

  test('walk ends with the error of a read, and with its signal', async () => {
    plant(...tree)
    server.faults.fail({ op: 'getChildren', path: '/a/b', code: 'NoAuth' })
    expect(await rejection(walked())).toMatchObject({ code: 'NoAuth' })
    const reason = new Error('enough')
    expect(await rejection(walked('/', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(() => walk(zk, 'a')).toThrow(TypeError)
    for (const concurrency of [0, 1.5, NaN]) expect(() => walk(zk, '/', { concurrency })).toThrow(RangeError)
  })
})

describe('deleteRecursive', () => {
  test('deleteRecursive deletes a node and all below it, and returns how many', async () => {
    plant(...tree)
    expect(await deleteRecursive(zk, '/a')).toBe(5)
    expect(await walked()).toEqual(['/', '/f', '/f/g'])
    expect(await deleteRecursive(zk, '/f/g')).toBe(1)
    expect(await deleteRecursive(zk, '/none')).toBe(0)
    // One batch for a few nodes.
    expect(server.history.requests({ op: 'multi' })).toHaveLength(2)
    expect(server.history.requests({ op: 'delete' })).toHaveLength(0)
  })

  test('deleteRecursive with contentsOnly leaves the node itself', async () => {
    plant(...tree)
    expect(await deleteRecursive(zk, '/a', { contentsOnly: true })).toBe(4)
    expect(await walked('/a')).toEqual(['/a'])
    expect(await deleteRecursive(zk, '/', { contentsOnly: true })).toBe(3)
    expect(server.nodes.get('/')?.children).toEqual(['zookeeper'])
    expect(server.nodes.get('/zookeeper')?.children).toEqual(['config', 'quota'])
  })

  test('deleteRecursive refuses the root, and the nodes of the servers', async () => {
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', 'a']) {
      expect(await rejection(deleteRecursive(zk, path))).toBeInstanceOf(TypeError)
    }
    const within = await connect(`${server.connectString}/zookeeper`)
    onTestFinished(() => within.close())
    expect(await rejection(deleteRecursive(within, '/quota'))).toBeInstanceOf(TypeError)
    expect(await rejection(deleteRecursive(zk, '/a', { concurrency: 0 }))).toBeInstanceOf(RangeError)
  })

  test.each([1, 2, 8])(
    'deleteRecursive of many nodes goes by batches, %i at a time, and reports its progress',
    async (concurrency) => {
      for (let i = 0; i < 25; i++) {
        plant(`/big/n${i}`)
        for (let j = 0; j < 20; j++) plant(`/big/n${i}/${j}`)
      }
      const notified: number[] = []
      const onProgress = ({ deleted }: { readonly deleted: number }) => void notified.push(deleted)
      expect(await deleteRecursive(zk, '/big', { concurrency, onProgress })).toBe(526)
      expect(notified).toEqual([100, 200, 300, 400, 500, 526])
      expect(server.nodes.get('/big')).toBeUndefined()
    },
  )

  test('deleteRecursive ignores nodes that are deleted already', async () => {
    plant(...tree)
    // It was listed, and another client deletes it first.
    const rule = server.faults.delayRequest({ op: 'multi', ms: 50 })
    const deleting = deleteRecursive(zk, '/a')
    await rule.fired
    server.nodes.delete('/a/b/c')
    expect(await deleting).toBe(4)
    expect(server.nodes.get('/a')).toBeUndefined()
  })

  test('deleteRecursive deletes nodes that are created meanwhile', async () => {
    plant(...tree)
    const rule = server.faults.delayRequest({ op: 'multi', ms: 50 })
    const deleting = deleteRecursive(zk, '/a')
    await rule.fired
    plant('/a/b/late')
    expect(await deleting).toBe(6)
    expect(server.nodes.get('/a')).toBeUndefined()
  })

  test('deleteRecursive gives up when it makes no progress', async () => {
    plant('/a/b')
    server.faults.fail({ op: 'getChildren', path: '/a/b', code: 'NoNode', times: Infinity })
    const error = await rejection(deleteRecursive(zk, '/a'))
    expect(KeeperError.is(error, 'NotEmpty')).toBe(true)
  })

  test('deleteRecursive survives a lost connection, whether its batch was executed or not', async () => {
    plant(...tree)
    server.faults.loseReply({ op: 'multi' })
    expect(await deleteRecursive(zk, '/a')).toBe(0)
    server.faults.loseRequest({ op: 'multi' })
    expect(await deleteRecursive(zk, '/f')).toBe(2)
    expect(await walked()).toEqual(['/'])
  })

  test('deleteRecursive deletes what it may, and reports what it may not', async () => {
    plant(...tree)
    server.nodes.delete('/a/b')
    server.nodes.create('/a/b', { acl: [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }] })
    plant('/a/b/c')
    expect(await rejection(deleteRecursive(zk, '/a'))).toMatchObject({ code: 'NoAuth', path: '/a/b/c' })
    expect(await walked('/a')).toEqual(['/a', '/a/b', '/a/b/c'])
  })

  test('deleteRecursive ends with its signal, and sends nothing more', async () => {
    plant(...tree)
    const abort = new AbortController()
    const rule = server.faults.delayRequest({ op: 'getChildren', path: '/a', ms: 20 })
    const deleting = rejection(deleteRecursive(zk, '/a', { signal: abort.signal }))
    await rule.fired
    abort.abort(new Error('enough'))
    expect(await deleting).toBe(abort.signal.reason)
    await zk.sync('/')
    expect(server.history.requests({ op: 'multi' })).toHaveLength(0)
  })
})

import { AddWatchMode, CreateMode, WatcherType } from '@zk/wire'
import { type Scenario, type Session } from '../play/index.ts'
import { group } from './group.ts'

const { PERSISTENT, PERSISTENT_RECURSIVE } = AddWatchMode
const modes = [PERSISTENT, PERSISTENT_RECURSIVE] as const
const types = [WatcherType.Children, WatcherType.Data, WatcherType.Any] as const

export const addWatch = group('addWatch', {
  'a persistent watch fires on every change of the node, its data and its children': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/a', PERSISTENT)
    await everyChange(s, a)
    await everyChange(s, a)
    await closeBoth(a, b)
  },

  'a recursive watch fires for the node and all below it, never with NodeChildrenChanged': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/a', PERSISTENT_RECURSIVE)
    await everyChange(s, a)
    await everyChange(s, a)
    await closeBoth(a, b)
  },

  'a recursive watch of the root fires for all nodes': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/', PERSISTENT_RECURSIVE)
    await everyChange(s, a)
    await a.create('/ab')
    await a.multi(
      { type: 1, request: { path: '/m', data: null, acl: open(), flags: 0 } },
      { type: 5, request: { path: '/m', data: null, version: -1 } },
      { type: 2, request: { path: '/m', version: -1 } },
    )
    await s.settle()
    await closeBoth(a, b)
  },

  'a session that watches a node twice, or above it too, receives one event': async (s) => {
    const { a, b } = await s.pair()
    for (const mode of modes) await b.addWatch('/', mode)
    await b.addWatch('/a', PERSISTENT_RECURSIVE)
    await b.addWatch('/a/b', PERSISTENT)
    await everyChange(s, a)
    await closeBoth(a, b)
  },

  'the second mode on a path replaces the first': async (s) => {
    const { a, b } = await s.pair()
    for (const [first, second] of [modes, [...modes].reverse()] as const) {
      s.note(`${first} and then ${second}`)
      await b.addWatch('/a', first)
      await b.addWatch('/a', second)
      await everyChange(s, a)
      await b.removeWatches('/a', WatcherType.Any)
    }
    await closeBoth(a, b)
  },

  'a read with a watch replaces a persistent one, in its table': async (s) => {
    const { a, b } = await s.pair()
    for (const mode of modes) {
      for (const read of ['getData', 'exists', 'getChildren2'] as const) {
        s.note(`${mode} and then ${read}`)
        await a.create('/a')
        await s.settle()
        await b.addWatch('/a', mode)
        await b[read]('/a', true)
        await a.setData('/a', '1')
        await s.settle()
        await a.create('/a/b')
        await s.settle()
        await a.setData('/a', '2')
        await a.setData('/a/b', '3')
        await a.delete('/a/b')
        await a.delete('/a')
        await s.settle()
        await b.removeWatches('/a', WatcherType.Any)
      }
    }
    await closeBoth(a, b)
  },

  'a persistent watch replaces those that reads have set': async (s) => {
    const { a, b } = await s.pair()
    for (const mode of modes) {
      await a.create('/a')
      await s.settle()
      await b.getData('/a', true)
      await b.getChildren('/a', true)
      await b.addWatch('/a', mode)
      await a.create('/a/b')
      await a.setData('/a', '1')
      await a.setData('/a', '2')
      await a.delete('/a/b')
      await a.delete('/a')
      await s.settle()
      await b.removeWatches('/a', WatcherType.Any)
    }
    await closeBoth(a, b)
  },

  'addWatch needs no node, no valid path, no permission, but a valid mode': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/secret', { acl: [{ perms: 30, id: { scheme: 'world', id: 'anyone' } }] })
    await s.settle()
    for (const mode of modes) {
      for (const path of ['/none', '/none/below', '', 'a', '/a/', '/a//b']) {
        await b.addWatch(path, mode)
        await b.checkWatches(path, WatcherType.Any)
        await b.removeWatches(path, WatcherType.Any)
      }
    }
    for (const mode of [-1, 2, 3, 99]) await b.addWatch('/none', mode)
    await b.checkWatches('/none', WatcherType.Any)
    await b.addWatch('/secret', PERSISTENT)
    await a.setData('/secret', 'x')
    await a.create('/secret/child')
    await a.delete('/secret/child')
    await a.delete('/secret')
    await s.settle()
    await closeBoth(a, b)
  },

  'a recursive watch does not fire for nodes that may not be read (V15)': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/', PERSISTENT_RECURSIVE)
    await a.create('/open')
    await a.create('/open/secret', { acl: [{ perms: 30, id: { scheme: 'world', id: 'anyone' } }] })
    await a.setData('/open/secret', 'x')
    await a.create('/open/secret/open')
    await a.delete('/open/secret/open')
    await a.delete('/open/secret')
    await a.delete('/open')
    await s.settle()
    await closeBoth(a, b)
  },

  'the end of a session fires the watches of its ephemeral nodes': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/', PERSISTENT_RECURSIVE)
    await b.addWatch('/p', PERSISTENT)
    await a.create('/p')
    await a.create('/p/e', { flags: CreateMode.EPHEMERAL })
    await a.close()
    await s.settle()
    await b.close()
  },

  'events come before the reply to the request that caused them': {
    since: '3.6',
    play: async (s) => {
      const a = await s.open({ at: 'follower' })
      await Promise.all([
        a.addWatch('/', PERSISTENT_RECURSIVE),
        a.create('/a'),
        a.setData('/a', 'x'),
        a.getData('/a'),
        a.addWatch('/a', PERSISTENT),
        a.create('/a/b'),
        a.getChildren('/a'),
        a.delete('/a/b'),
        a.removeWatches('/', WatcherType.Any),
        a.delete('/a'),
        a.exists('/a'),
      ])
      await a.close()
    },
  },

  'they end with the connection': async (s) => {
    const { a, b } = await s.pair()
    await b.addWatch('/', PERSISTENT_RECURSIVE)
    await b.addWatch('/a', PERSISTENT)
    await b.drop()
    const again = await s.resume(b, { at: 'follower' })
    for (const path of ['/', '/a']) await again.checkWatches(path, WatcherType.Any)
    await a.create('/a')
    await s.settle()
    await closeBoth(a, again)
  },
})

export const removalOfPersistentWatches = group('removal of persistent watches', {
  'checkWatches and removeWatches accept each type, and have two tables': async (s) => {
    const { a, b } = await s.pair()
    for (const mode of modes) {
      for (const type of [...types, 4, 5]) {
        s.note(`mode ${mode}, type ${type}`)
        await b.addWatch('/a', mode)
        for (const each of [...types, 4, 5]) await b.checkWatches('/a', each)
        await b.removeWatches('/a', type)
        for (const each of types) await b.checkWatches('/a', each)
        await b.checkWatches('/a/b', WatcherType.Any)
        await a.create('/a')
        await a.create('/a/b')
        await a.delete('/a/b')
        await a.delete('/a')
        await s.settle()
        await b.removeWatches('/a', WatcherType.Any)
        await b.removeWatches('/a', WatcherType.Any)
      }
    }
    await closeBoth(a, b)
  },

  'checkWatches with an invalid path, while there is a recursive watch': async (s) => {
    const a = await s.open()
    await a.addWatch('/x', PERSISTENT_RECURSIVE)
    for (const path of ['', 'a', 'a/b', '/a/', '/a//b', '/x/y', '/x/y/z']) {
      for (const type of types) await a.checkWatches(path, type)
    }
    await a.removeWatches('/x', WatcherType.Data)
    for (const type of types) await a.checkWatches('a/b', type)
    await a.close()
  },

  'removeWatches applies to the own session': async (s) => {
    const { a, b } = await s.pair()
    await a.addWatch('/a', PERSISTENT)
    await b.addWatch('/a', PERSISTENT_RECURSIVE)
    await b.removeWatches('/a', WatcherType.Any)
    await everyChange(s, a)
    await closeBoth(a, b)
  },
})

export const setWatches2 = group('setWatches2', {
  'it sets persistent watches again, and delivers no missed events': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.setData('/a', 'x')
    await s.settle()
    await b.setWatches2({ persistentWatches: ['/a', '/none'], persistentRecursiveWatches: ['/r', '/r/below'] }, 0n)
    await everyChange(s, a, '/r')
    await a.delete('/a')
    await everyChange(s, a)
    await closeBoth(a, b)
  },

  'it handles one-shot watches as setWatches does, before its reply': async (s) => {
    const a = await s.open()
    for (const path of ['/c', '/a', '/b']) await a.create(path)
    const paths = ['/none', '/b', '/c', '/a']
    await a.setWatches2({ childWatches: paths, existWatches: paths, dataWatches: paths, persistentWatches: paths }, 0n)
    await a.setData('/a', 'x')
    await a.create('/none')
    await a.close()
  },

  'one path in several lists has the mode of the last': async (s) => {
    const { a, b } = await s.pair()
    const lists = ['dataWatches', 'existWatches', 'childWatches', 'persistentWatches', 'persistentRecursiveWatches']
    for (const [index, one] of lists.entries()) {
      for (const other of lists.slice(index)) {
        s.note(`${one} and ${other}`)
        await a.create('/a')
        await s.settle()
        await b.setWatches2({ [one]: ['/a'], [other]: ['/a'] }, 1n << 62n)
        for (const type of types) await b.checkWatches('/a', type)
        await a.setData('/a', '1')
        await a.create('/a/b')
        await a.delete('/a/b')
        await a.setData('/a', '2')
        await a.delete('/a')
        await s.settle()
        await b.removeWatches('/a', WatcherType.Any)
      }
    }
    await closeBoth(a, b)
  },

  'it accepts null lists, invalid paths, and any xid': async (s) => {
    const a = await s.open()
    await a.setWatches2({})
    await a.setWatches2({ persistentWatches: null, persistentRecursiveWatches: ['/a'] })
    await a.setWatches2({ persistentWatches: ['/b'], persistentRecursiveWatches: null })
    await a.setWatches2({ persistentWatches: ['', 'a', '/a/'] })
    for (const path of ['/a', '/b', '', 'a', '/a/']) await a.removeWatches(path, WatcherType.Any)
    const request = { relativeZxid: 0n, dataWatches: [], existWatches: [], childWatches: [] }
    const both = { persistentWatches: ['/a'], persistentRecursiveWatches: ['/b'] }
    await a.call('setWatches2', { ...request, ...both }, { xid: 77 })
    await a.create('/a')
    await a.create('/b')
    await a.close()
  },

  'setWatches behind it replaces persistent watches': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    for (const list of ['dataWatches', 'childWatches']) {
      for (const mode of modes) {
        s.note(`${list} on ${mode}`)
        await b.addWatch('/a', mode)
        await b.setWatches({ [list]: ['/a'] }, 1n << 62n)
        await a.setData('/a', '1')
        await a.create('/a/b')
        await a.setData('/a/b', '2')
        await a.setData('/a', '3')
        await a.delete('/a/b')
        await s.settle()
        await b.removeWatches('/a', WatcherType.Any)
      }
    }
    await closeBoth(a, b)
  },
})

const open = () => [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** Creates the node, makes every kind of change to it and below it, and deletes it. */
async function everyChange(s: Scenario, by: Session, path = '/a'): Promise<void> {
  await by.create(path)
  await by.setData(path, 'x')
  await by.setACL(path, open())
  await by.create(`${path}/b`)
  await by.setData(`${path}/b`, 'x')
  await by.create(`${path}/b/c`)
  await by.setData(`${path}/b/c`, 'x')
  await by.delete(`${path}/b/c`)
  await by.delete(`${path}/b`)
  await by.delete(path)
  await s.settle()
}

async function closeBoth(a: Session, b: Session): Promise<void> {
  await a.close()
  await b.close()
}

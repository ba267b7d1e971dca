import { CreateMode, WatcherType } from '@zk/wire'
import type { Session } from '../play/index.ts'
import { group } from './group.ts'

export const watches = group('watches', {
  'a watch of data fires once, for the session that has set it': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    await b.getData('/a', true)
    await a.setData('/a', '1')
    await s.settle()
    await a.setData('/a', '2')
    await s.settle()
    await b.exists('/a', true)
    await a.setData('/a', '3')
    await s.settle()
    await b.getData('/a', true)
    await a.delete('/a')
    await s.settle()
    await closeBoth(a, b)
  },

  'a watch of existence fires on creation, on change and on deletion': async (s) => {
    const { a, b } = await s.pair()
    for (const round of [1, 2]) {
      await b.exists('/a', true)
      await a.create('/a', { data: `${round}` })
      await s.settle()
      await b.exists('/a', true)
      await a.setData('/a', 'x')
      await s.settle()
      await b.exists('/a', true)
      await a.create('/a/child')
      await a.delete('/a/child')
      await s.settle()
      await a.delete('/a')
      await s.settle()
    }
    await closeBoth(a, b)
  },

  'getData of a missing node leaves no watch': async (s) => {
    const { a, b } = await s.pair()
    await b.getData('/a', true)
    await b.getChildren('/a', true)
    await b.getChildren2('/a', true)
    await b.checkWatches('/a', WatcherType.Any)
    await a.create('/a')
    await s.settle()
    await closeBoth(a, b)
  },

  'failed reads leave no watch': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a', { acl: [{ perms: 30, id: { scheme: 'world', id: 'anyone' } }] })
    await s.settle()
    await b.getData('/a', true)
    await b.getChildren('/a', true)
    await b.checkWatches('/a', WatcherType.Any)
    await b.exists('/a', true)
    await b.checkWatches('/a', WatcherType.Data)
    await a.setData('/a')
    await s.settle()
    await closeBoth(a, b)
  },

  'a watch of children fires on creation and deletion of them, and of the node': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    for (const change of [
      () => a.create('/a/b'),
      () => a.setData('/a/b'),
      () => a.setData('/a'),
      () => a.create('/a/b/c'),
      () => a.delete('/a/b/c'),
      () => a.delete('/a/b'),
      () => a.create('/a/s', { flags: CreateMode.PERSISTENT_SEQUENTIAL }),
      () => a.delete('/a/s0000000001'),
      () => a.delete('/a'),
    ]) {
      await b.getChildren('/a', true)
      await change()
      await s.settle()
      await b.getChildren2('/a', true)
      await s.settle()
    }
    await closeBoth(a, b)
  },

  'a deletion fires each kind of watch, but a session with two kinds receives one event': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.create('/a/b')
    await s.settle()
    await b.getData('/a/b', true)
    await b.getChildren('/a/b', true)
    await b.exists('/a/b', true)
    await b.getChildren('/a', true)
    await b.getData('/a', true)
    await a.delete('/a/b')
    await s.settle()
    await a.delete('/a')
    await s.settle()
    await closeBoth(a, b)
  },

  'watches that are set twice fire once': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    for (let i = 0; i < 3; i++) {
      await b.getData('/a', true)
      await b.exists('/a', true)
      await b.getChildren('/a', true)
      await b.getChildren2('/a', true)
    }
    await a.setData('/a')
    await a.create('/a/b')
    await s.settle()
    await closeBoth(a, b)
  },

  'an event comes before the reply to the request that caused it': async (s) => {
    const a = await s.open({ at: 'follower' })
    await a.create('/a')
    await Promise.all([
      a.getData('/a', true),
      a.getChildren('/a', true),
      a.exists('/a/b', true),
      a.getChildren('/', true),
    ])
    await Promise.all([
      a.setData('/a', 'x'),
      a.getData('/a', true),
      a.create('/a/b'),
      a.getChildren('/a', true),
      a.exists('/a/b', true),
      a.setData('/a/b', 'y'),
      a.getData('/a/b', true),
      a.delete('/a/b'),
      a.exists('/a/b', true),
      a.delete('/a'),
      a.exists('/a', true),
      a.create('/a', { flags: CreateMode.EPHEMERAL }),
      a.getChildren('/', true),
    ])
    await a.close()
  },

  'a failed change fires nothing': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.create('/a/b')
    await s.settle()
    await b.getData('/a', true)
    await b.getChildren('/a', true)
    await b.exists('/c', true)
    await a.create('/a')
    await a.create('/a/b')
    await a.create('/c/d')
    await a.delete('/a')
    await a.delete('/a/b', 4)
    await a.setData('/a', '', 4)
    await s.settle()
    await closeBoth(a, b)
  },

  'watches of several paths fire in the order of the changes': async (s) => {
    const { a, b } = await s.pair()
    const names = ['c', 'a', 'd', 'b']
    for (const name of names) await a.create(`/${name}`)
    await s.settle()
    for (const name of names) await b.getData(`/${name}`, true)
    await Promise.all(['b', 'a', 'd', 'c'].map((name) => a.setData(`/${name}`)))
    await s.settle()
    await closeBoth(a, b)
  },

  'the end of a session fires the watches of its ephemeral nodes': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/p')
    await a.create('/p/e', { flags: CreateMode.EPHEMERAL })
    await s.settle()
    await b.exists('/p/e', true)
    await b.getChildren('/p', true)
    await b.getData('/p', true)
    await a.close()
    await s.settle()
    await b.getChildren2('/p')
    await b.close()
  },

  'watches end with the connection': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    await b.getData('/a', true)
    await b.drop()
    const again = await s.resume(b, { at: 'follower' })
    await again.checkWatches('/a', WatcherType.Data)
    await a.setData('/a')
    await s.settle()
    await closeBoth(a, again)
  },

  'a session receives events of its own changes': async (s) => {
    const a = await s.open()
    await a.exists('/a', true)
    await a.create('/a')
    await a.getChildren('/', true)
    await a.create('/b')
    await a.getData('/b', true)
    await a.delete('/b')
    await a.close()
  },
})

export const checkWatchesAndRemoveWatches = group('checkWatches and removeWatches', {
  'checkWatches checks whether there is one, and leaves it': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.getData('/a', true)
    for (const type of types) await a.checkWatches('/a', type)
    await a.getChildren('/a', true)
    for (const type of types) await a.checkWatches('/a', type)
    await a.exists('/none', true)
    for (const type of types) await a.checkWatches('/none', type)
    for (const type of types) await a.checkWatches('/other', type)
    await a.setData('/a')
    for (const type of types) await a.checkWatches('/a', type)
    await a.close()
  },

  'removeWatches removes the named watches, of the own session only': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    for (const type of types) {
      for (const session of [a, b]) {
        await session.getData('/a', true)
        await session.getChildren('/a', true)
      }
      await s.settle()
      await b.removeWatches('/a', type)
      for (const other of types) await b.checkWatches('/a', other)
      await b.removeWatches('/a', type)
      await a.setData('/a')
      await a.create('/a/b')
      await s.settle()
      await a.delete('/a/b')
      await s.settle()
    }
    await closeBoth(a, b)
  },

  'removeWatches of an unset exists watch': async (s) => {
    const { a, b } = await s.pair()
    await b.exists('/a', true)
    await b.removeWatches('/a', WatcherType.Children)
    await b.removeWatches('/a', WatcherType.Data)
    await b.removeWatches('/a', WatcherType.Data)
    await a.create('/a')
    await s.settle()
    await closeBoth(a, b)
  },

  'checkWatches and removeWatches with invalid paths and types': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.getData('/a', true)
    for (const type of [-1, 0, 6, 99, 2 ** 31 - 1]) {
      await a.checkWatches('/a', type)
      await a.removeWatches('/a', type)
    }
    for (const path of [null, '', 'a', '/a/', '/a//b']) {
      await a.checkWatches(path, WatcherType.Any)
      await a.removeWatches(path, WatcherType.Any)
    }
    await a.setData('/a')
    await a.close()
  },
})

const types = [WatcherType.Children, WatcherType.Data, WatcherType.Any] as const

async function closeBoth(a: Session, b: Session): Promise<void> {
  await a.close()
  await b.close()
}

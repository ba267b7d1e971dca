import { WatcherType } from '@zk/wire'
import { type Scenario, type Session } from '../play/index.ts'
import { group } from './group.ts'

/** What happens to a node while its watching session is disconnected. */
const changes = {
  nothing: async () => {},
  data: async (by: Session, path: string) => void (await by.setData(path, 'changed')),
  child: async (by: Session, path: string) => void (await by.create(`${path}/child`)),
  'child and back': async (by: Session, path: string) => {
    await by.create(`${path}/child`)
    await by.delete(`${path}/child`)
  },
  acl: async (by: Session, path: string) =>
    void (await by.setACL(path, [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }])),
  deletion: async (by: Session, path: string) => void (await by.delete(path)),
  'deletion and creation': async (by: Session, path: string) => {
    await by.delete(path)
    await by.create(path)
  },
} as const

const lists = { dataWatches: ['/data'], existWatches: ['/exist'], childWatches: ['/child'] } as const
const paths = Object.values(lists).flat()

export const setWatches = group('setWatches', {
  ...Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [
      `setWatches delivers what was missed, or sets the watch again: ${name}`,
      async (s: Scenario) => {
        const a = await s.open()
        for (const path of paths) await a.create(path)
        const b = await s.open({ at: 'follower' })
        await b.sync()
        await b.drop()
        for (const path of paths) await change(a, path)
        const again = await s.resume(b, { at: 'follower' })
        await again.sync()
        await again.setWatches(lists, b.lastZxid)
        for (const path of paths) {
          for (const type of [WatcherType.Data, WatcherType.Children]) await again.checkWatches(path, type)
        }
        await s.settle()
        for (const path of paths) {
          await a.setData(path, 'later')
          await a.create(`${path}/later`)
          await a.create(path)
        }
        await s.settle()
        await a.close()
        await again.close()
      },
    ]),
  ),

  'setWatches of a missing node delivers its creation only if it exists now': async (s) => {
    const { a, b } = await s.pair()
    await b.sync()
    await b.exists('/made')
    await a.create('/made')
    await a.create('/made-and-gone')
    await a.delete('/made-and-gone')
    await s.settle()
    await b.setWatches({ existWatches: ['/made', '/made-and-gone', '/never'] })
    await b.setWatches({ dataWatches: ['/never'], childWatches: ['/never'] })
    await a.create('/never')
    await a.create('/made-and-gone')
    await s.settle()
    await a.close()
    await b.close()
  },

  'setWatches compares with the zxid of the request': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.setData('/a', 'x')
    await a.create('/a/b')
    const all = { dataWatches: ['/a'], existWatches: ['/a'], childWatches: ['/a'] }
    for (const relativeZxid of [0n, -1n, a.lastZxid, a.lastZxid - 1n, a.lastZxid - 2n, (1n << 63n) - 1n]) {
      s.note(`relative to ${relativeZxid < 1n || relativeZxid > 1n << 62n ? relativeZxid : 'the last'}`)
      await a.setWatches(all, relativeZxid)
      await a.removeWatches('/a', WatcherType.Any)
      await s.settle()
    }
    await a.close()
  },

  'setWatches delivers events in the order of its lists, before its reply': async (s) => {
    const a = await s.open()
    const paths = ['/c', '/a', '/b']
    for (const path of paths) await a.create(path)
    await a.setWatches(
      { childWatches: [...paths, '/none'], existWatches: [...paths, '/none'], dataWatches: ['/none', ...paths] },
      0n,
    )
    await a.close()
  },

  'setWatches accepts one path many times, and empty lists': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.setWatches({})
    await a.setWatches({ dataWatches: ['/a', '/a', '/a'] })
    await a.setData('/a')
    await a.setWatches({ dataWatches: ['/a', '/a'] }, 0n)
    await a.close()
  },

  'the reply to setWatches has the xid of the request': async (s) => {
    const a = await s.open()
    await a.create('/a')
    const request = { relativeZxid: 0n, dataWatches: ['/a'], existWatches: [], childWatches: [] }
    await a.call('setWatches', request, { xid: 77 })
    await a.call('setWatches', request, { xid: 0 })
    await a.close()
  },

  'setWatches with null lists and invalid paths': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.setWatches({ dataWatches: null })
    await a.setWatches({ existWatches: null })
    await a.setWatches({ childWatches: null })
    for (const path of ['', 'a', '/a/', '/a//b']) {
      await a.setWatches({ dataWatches: [path] })
      await a.setWatches({ existWatches: [path] })
      await a.setWatches({ childWatches: [path] })
    }
    await a.close()
  },
})

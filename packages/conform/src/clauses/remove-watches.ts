import { AddWatchMode, WatcherType } from '@zk/wire'
import { toHex } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { oneMode } from './recurring.ts'

const { PERSISTENT, PERSISTENT_RECURSIVE } = AddWatchMode
const { Any, Children, Data, Persistent, PersistentRecursive } = WatcherType

const UNKNOWN_TYPE = {
  what: 'The types 4 and 5 are MarshallingErrors (ZOOKEEPER-4472).',
  before: '3.9',
} as const

export const removeWatches: Chapter = {
  name: 'remove-watches',
  title: 'Removal of watches',
  introduction:
    '`removeWatches` (opcode 18) removes watches that the session has at this server, by path and type: 1 for a child ' +
    'watch, 2 for a data watch, 3 for any, and, from 3.9 on, 4 for a persistent and 5 for a recursive one. `checkWatches` ' +
    '(opcode 17) only says whether there is such a watch. The `removeWatches` of Java clients sends `checkWatches`, and ' +
    'their `removeAllWatches` sends `removeWatches`. Both requests came with 3.5.0 (ZOOKEEPER-442).',
  clauses: [
    {
      number: 1,
      text: '`removeWatches` with type 2 removes a data watch, set by `getData` or `exists`.',
      source: 'DataTree.removeWatch',
      follows: ['watches/5', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const read of ['getData', 'exists'] as const) {
            await a.create(`/${read}`)
            await a[read](`/${read}`, true)
            t.see(t.error(await a.removeWatches(`/${read}`, Data)))
            await a.setData(`/${read}`, 'x')
            await t.seeEvents(a)
          }
        },
        expect: ['Ok', 'no event', 'Ok', 'no event'],
      },
    },
    {
      number: 2,
      text: '`removeWatches` with type 1 removes a child watch.',
      source: 'DataTree.removeWatch',
      follows: ['remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getChildren('/n', true)
          t.see(t.error(await a.removeWatches('/n', Children)))
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'no event'],
      },
    },
    {
      number: 3,
      text: '`removeWatches` with type 3 removes watches of all types.',
      source: 'DataTree.removeWatch',
      follows: ['remove-watches/1', 'remove-watches/2', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          t.see(t.error(await a.removeWatches('/n', Any)))
          await a.create('/n/c')
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'no event'],
      },
    },
    {
      number: 4,
      text: '`removeWatches` removes the watch of a missing node, which `exists` has set, as a data watch.',
      source: 'DataTree.statNode and removeWatch',
      follows: ['watches/3', 'remove-watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.exists('/n', true)
          t.see(t.error(await a.removeWatches('/n', Data)))
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'no event'],
      },
    },
    {
      number: 5,
      text: 'The types 1 and 2 leave watches of the other type alone.',
      source: 'DataTree.removeWatch, ZOOKEEPER-1910',
      follows: ['watches/1', 'watches/6', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          for (const type of [Children, Data]) {
            await a.getData('/n', true)
            await a.getChildren('/n', true)
            await a.removeWatches('/n', type)
            if (type === Children) await a.setData('/n', 'x')
            else await a.create('/n/c')
            await t.seeEvents(a)
          }
        },
        expect: ['NodeDataChanged /n', 'NodeChildrenChanged /n'],
      },
    },
    {
      number: 6,
      text: '`removeWatches` answers NoWatcher if the session has no watch of this type on the path.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-1909',
      follows: ['remove-watches/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/m')
          await a.getData('/m', true)
          t.see('none', t.error(await a.removeWatches('/n', Any)))
          t.see('other type', t.error(await a.removeWatches('/m', Children)))
          t.see('other path', t.error(await a.removeWatches('/m/c', Any)))
        },
        expect: ['none NoWatcher', 'other type NoWatcher', 'other path NoWatcher'],
      },
    },
    {
      number: 7,
      text: 'A watch that has fired, or was removed, is gone: a later `removeWatches` answers NoWatcher.',
      source: 'WatchManager.triggerWatch and removeWatcher',
      follows: ['watches/1', 'watches/15', 'remove-watches/1', 'remove-watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setData('/n', 'x')
          t.see('fired', t.error(await a.removeWatches('/n', Data)))
          await a.getData('/n', true)
          await a.removeWatches('/n', Data)
          t.see('removed', t.error(await a.removeWatches('/n', Data)))
        },
        expect: ['fired NoWatcher', 'removed NoWatcher'],
      },
    },
    {
      number: 8,
      text: 'A removal sends no event: the types `DataWatchRemoved`, `ChildWatchRemoved` and so on exist in clients only.',
      source: 'ZKWatchManager of the client makes them',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.removeWatches('/n', Any)
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 9,
      text: '`removeWatches` leaves the watches of other sessions alone.',
      source: 'WatchManager.removeWatcher',
      follows: ['watches/1', 'remove-watches/1', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await a.getData('/n', true)
          await b.getData('/n', true)
          await b.removeWatches('/n', Data)
          await b.setData('/n', 'x')
          await t.seeEvents(a, 'a')
          await t.seeEvents(b, 'b')
        },
        expect: ['a: NodeDataChanged /n', 'b: no event'],
      },
    },
    {
      number: 10,
      text: '`checkWatches` answers Ok if the session has a watch of the type on the path, and NoWatcher if not.',
      source: 'FinalRequestProcessor.processRequest, DataTree.containsWatcher',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/data', '/children', '/none']) {
            await a.create(path)
            const errors = []
            for (const type of [Children, Data, Any]) {
              if (path === '/data') await a.getData(path, true)
              if (path === '/children') await a.getChildren(path, true)
              errors.push(t.error(await a.checkWatches(path, type)))
            }
            t.see(path, ...errors)
          }
        },
        expect: ['/data NoWatcher Ok Ok', '/children Ok NoWatcher Ok', '/none NoWatcher NoWatcher NoWatcher'],
      },
    },
    {
      number: 11,
      text: '`checkWatches` leaves the watch as it is.',
      source: 'DataTree.containsWatcher',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.checkWatches('/n', Any)
          await a.checkWatches('/n', Data)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 12,
      profile: 'full',
      text: '`checkWatches` answers NoWatcher if only another session has a watch on the path.',
      source: 'WatchManager.containsWatcher',
      follows: ['remove-watches/10'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await a.getData('/n', true)
          t.see(t.error(await b.checkWatches('/n', Data)))
        },
        expect: ['NoWatcher'],
        differs: [
          {
            what: 'The watch of any session counts: the server does not compare the watcher.',
            since: ['3.6.0'],
            before: '3.9',
            expect: ['Ok'],
          },
        ],
      },
    },
    {
      number: 13,
      text: 'The replies to `checkWatches` and `removeWatches` have no body.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          for (const op of ['checkWatches', 'removeWatches'] as const) {
            await a.getData('/n', true)
            const reply = await a.callUnread(op, { path: '/n', type: Data })
            t.see(t.error(reply), reply?.rest === undefined ? 'without a body' : toHex(reply.rest))
          }
        },
        expect: ['Ok without a body', 'Ok without a body'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: 'Any other type is a MarshallingError, and removes nothing.',
      source: 'Watcher.WatcherType.fromInt throws a RuntimeException',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          for (const type of [-1, 0, 6]) {
            t.see(t.error(await a.checkWatches('/n', type)), t.error(await a.removeWatches('/n', type)))
          }
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: [
          'MarshallingError MarshallingError',
          'MarshallingError MarshallingError',
          'MarshallingError MarshallingError',
          'NodeDataChanged /n',
        ],
      },
    },
    {
      number: 15,
      profile: 'full',
      level: 'SHOULD',
      text: '`removeWatches` does not check the path: an invalid one has no watch, and the answer is NoWatcher.',
      source: 'WatchManager.removeWatcher',
      follows: ['remove-watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['n', '', '/n/']) t.see(t.error(await a.removeWatches(path, Any)))
        },
        expect: ['NoWatcher', 'NoWatcher', 'NoWatcher'],
      },
    },
    {
      number: 16,
      profile: 'full',
      level: 'SHOULD',
      text: '`checkWatches` of an invalid path answers NoWatcher, too.',
      source: 'WatchManager.containsWatcher',
      follows: ['remove-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.checkWatches('n', Any)))
        },
        expect: ['NoWatcher'],
        differs: [
          {
            what: 'A path without a slash is a MarshallingError: PathParentIterator looks for its parent.',
            since: ['3.6.0'],
            before: '3.9',
            expect: ['MarshallingError'],
          },
        ],
      },
    },
    {
      number: 17,
      since: '3.6',
      text: '`removeWatches` with type 3 removes persistent and recursive watches, too.',
      source: 'DataTree.removeWatch',
      follows: ['persistent-watches/7', 'remove-watches/3', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          for (const mode of [PERSISTENT, PERSISTENT_RECURSIVE]) {
            await a.addWatch('/n', mode)
            t.see(t.error(await a.removeWatches('/n', Any)))
            await a.setData('/n', 'x')
            await a.create('/n/c')
            await a.delete('/n/c')
            await t.seeEvents(a)
          }
        },
        expect: ['Ok', 'no event', 'Ok', 'no event'],
      },
    },
    {
      number: 18,
      profile: 'full',
      since: '3.6',
      text: '`removeWatches` with type 4 removes a persistent watch.',
      source: 'DataTree.removeWatch, ZOOKEEPER-4472',
      follows: ['persistent-watches/3', 'remove-watches/1', 'remove-watches/2', 'remove-watches/3', 'remove-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          t.see(t.error(await a.removeWatches('/n', Persistent)))
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'no event'],
        differs: [{ ...UNKNOWN_TYPE, expect: ['MarshallingError', 'NodeDataChanged /n, NodeChildrenChanged /n'] }],
      },
    },
    {
      number: 19,
      profile: 'full',
      since: '3.6',
      text: '`removeWatches` with type 5 removes a recursive watch.',
      source: 'DataTree.removeWatch, ZOOKEEPER-4472',
      follows: [
        'persistent-watches/8',
        'persistent-watches/9',
        'persistent-watches/10',
        'remove-watches/1',
        'remove-watches/8',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          t.see(t.error(await a.removeWatches('/n', PersistentRecursive)))
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'no event'],
        differs: [{ ...UNKNOWN_TYPE, expect: ['MarshallingError', 'NodeDataChanged /n, NodeCreated /n/c'] }],
      },
    },
    {
      number: 20,
      profile: 'full',
      since: '3.6',
      text: 'The types 1 and 2 concern only one-shot watches: they answer NoWatcher, and leave a persistent watch alone.',
      source: 'DataTree.removeWatch, ZOOKEEPER-4471',
      follows: [
        'persistent-watches/3',
        'remove-watches/1',
        'remove-watches/2',
        'remove-watches/5',
        'remove-watches/6',
        'remove-watches/8',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const type of [Children, Data]) {
            const path = `/${type}`
            await a.create(path)
            await a.addWatch(path, PERSISTENT)
            t.see(t.error(await a.removeWatches(path, type)))
            await a.setData(path, 'x')
            await a.create(`${path}/c`)
            await t.seeEvents(a)
          }
        },
        expect: [
          'NoWatcher',
          'NodeDataChanged /1, NodeChildrenChanged /1',
          'NoWatcher',
          'NodeDataChanged /2, NodeChildrenChanged /2',
        ],
        differs: [
          {
            what: 'They remove the half of the persistent watch that is in the table of this type (ZOOKEEPER-4471).',
            before: '3.9',
            expect: ['Ok', 'NodeDataChanged /1', 'Ok', 'NodeChildrenChanged /2'],
          },
        ],
      },
    },
    {
      number: 21,
      profile: 'full',
      since: '3.6',
      text: 'When several watches are on one path, `removeWatches` removes only that of its type.',
      source: 'WatchManager.removeWatcher, ZOOKEEPER-4472',
      follows: [
        'persistent-watches/16',
        'persistent-watches/18',
        'remove-watches/1',
        'remove-watches/5',
        'remove-watches/8',
        'remove-watches/18',
        'remove-watches/19',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const type of [Data, Persistent, PersistentRecursive]) {
            const path = `/${type}`
            await a.create(path)
            await a.addWatch(path, PERSISTENT)
            await a.addWatch(path, PERSISTENT_RECURSIVE)
            await a.getData(path, true)
            await a.removeWatches(path, type)
            await a.setData(path, 'x')
            await a.create(`${path}/c`)
            await t.seeEvents(a)
          }
        },
        expect: [
          'NodeDataChanged /2, NodeCreated /2/c, NodeChildrenChanged /2',
          'NodeDataChanged /4, NodeCreated /4/c',
          'NodeDataChanged /5, NodeChildrenChanged /5',
        ],
        differs: oneMode('Each table has only the watch that was set last', [
          'no event',
          'NodeDataChanged /4',
          'NodeDataChanged /5',
        ]),
      },
    },
    {
      number: 22,
      since: '3.6',
      text: 'A recursive watch belongs to its own path: `removeWatches` of a path below answers NoWatcher and leaves it alone.',
      source: 'WatchManager.removeWatcher',
      follows: ['persistent-watches/8', 'persistent-watches/9', 'remove-watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          t.see(t.error(await a.removeWatches('/n', Any)))
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NoWatcher', 'NodeDataChanged /n'],
      },
    },
    {
      number: 23,
      profile: 'full',
      since: '3.6',
      text: '`checkWatches` with the types 4 and 5 finds the persistent and the recursive watch, and no other.',
      source: 'DataTree.containsWatcher, ZOOKEEPER-4472',
      follows: ['remove-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/once', '/all', '/below']) await a.create(path)
          await a.getData('/once', true)
          await a.addWatch('/all', PERSISTENT)
          await a.addWatch('/below', PERSISTENT_RECURSIVE)
          for (const path of ['/once', '/all', '/below']) {
            const errors = []
            for (const type of [Persistent, PersistentRecursive]) errors.push(t.error(await a.checkWatches(path, type)))
            t.see(path, ...errors)
          }
        },
        expect: ['/once NoWatcher NoWatcher', '/all Ok NoWatcher', '/below NoWatcher Ok'],
        differs: [
          {
            ...UNKNOWN_TYPE,
            expect: ['/once', '/all', '/below'].map((path) => `${path} MarshallingError MarshallingError`),
          },
        ],
      },
    },
    {
      number: 24,
      profile: 'full',
      since: '3.6',
      text: '`checkWatches` with type 3 finds a persistent or recursive watch, but only at its own path.',
      source: 'DataTree.containsWatcher',
      follows: ['remove-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/all', '/below', '/below/n']) await a.create(path)
          await a.addWatch('/all', PERSISTENT)
          await a.addWatch('/below', PERSISTENT_RECURSIVE)
          for (const path of ['/all', '/below', '/below/n']) t.see(path, t.error(await a.checkWatches(path, Any)))
        },
        expect: ['/all Ok', '/below Ok', '/below/n NoWatcher'],
      },
    },
  ],
}

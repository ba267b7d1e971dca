import { AddWatchMode, CreateMode, OpCode } from '@zk/wire'
import { open, toHex, utf8 } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { oneMode, unfiltered, unreadable } from './recurring.ts'

const { PERSISTENT, PERSISTENT_RECURSIVE } = AddWatchMode

export const persistentWatches: Chapter = {
  name: 'persistent-watches',
  title: 'Persistent watches',
  introduction:
    '`addWatch` (opcode 106, from 3.6 on) sets a watch that stays when it fires. In mode 0 the watch is **persistent**: it ' +
    'fires for the same changes as a data watch and a child watch of the path. In mode 1 it is **persistent and ' +
    'recursive**: it fires for each node that is created, changed or deleted at the path or anywhere below it. Such a watch ' +
    'belongs to a path, whether there is a node or not, and lasts until `removeWatches` or the end of the connection. Java ' +
    'clients and Curator call them `AddWatchMode.PERSISTENT` and `PERSISTENT_RECURSIVE`.',
  clauses: [
    {
      number: 1,
      since: '3.6',
      text: 'The reply to `addWatch` has a body of four bytes: an `ErrorResponse` with the error 0.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-1416',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          const reply = await a.callUnread('addWatch', { path: '/n', mode: PERSISTENT })
          t.see(t.error(reply), reply?.rest === undefined ? 'without a body' : toHex(reply.rest))
        },
        expect: ['Ok 00000000'],
      },
    },
    {
      number: 2,
      since: '3.6',
      text: 'A persistent watch stays when it fires.',
      source: 'WatchManager.triggerWatch',
      follows: ['watches/1', 'watches/11', 'persistent-watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          for (const data of ['1', '2', '3']) await a.setData('/n', data)
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n, NodeDataChanged /n, NodeDataChanged /n'],
      },
    },
    {
      number: 3,
      since: '3.6',
      text:
        'A persistent watch fires as a data watch and a child watch of the node do, with `NodeChildrenChanged` and the path of ' +
        'the node when a child is created or deleted.',
      source: 'DataTree.addWatch: the watch is in both tables',
      follows: ['watches/1', 'watches/2', 'watches/6', 'watches/7', 'watches/10', 'watches/19', 'persistent-watches/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await a.delete('/n/c')
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n, NodeChildrenChanged /n, NodeChildrenChanged /n, NodeDeleted /n'],
      },
    },
    {
      number: 4,
      since: '3.6',
      text: 'A persistent watch does not fire for the data of children, nor for nodes further below.',
      source: 'WatchManager.triggerWatch',
      follows: ['watches/11', 'persistent-watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          await a.addWatch('/n', PERSISTENT)
          await a.setData('/n/c', 'x')
          await a.create('/n/c/d')
          await a.delete('/n/c/d')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 5,
      since: '3.6',
      text: '`addWatch` needs no node: a watch on a missing node fires with `NodeCreated`.',
      source: 'DataTree.addWatch',
      follows: ['watches/3', 'watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.addWatch('/n', PERSISTENT)
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 6,
      since: '3.6',
      text: 'A persistent watch stays when its node is deleted, and fires when the node is created again.',
      source: 'WatchManager.triggerWatch',
      follows: ['persistent-watches/2', 'persistent-watches/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          await a.delete('/n')
          await t.events(a)
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 7,
      since: '3.6',
      text: '`addWatch` sends no event for what the node already is.',
      source: 'DataTree.addWatch',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          await a.addWatch('/n', PERSISTENT)
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 8,
      since: '3.6',
      text: 'A recursive watch fires for all nodes below its path, with the path of the node that has changed.',
      source: 'WatchManager.triggerWatch, PathParentIterator',
      follows: [
        'watches/1',
        'watches/2',
        'watches/3',
        'watches/10',
        'watches/11',
        'watches/19',
        'persistent-watches/7',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.create('/n/c')
          await a.create('/n/c/d')
          await a.setData('/n/c/d', 'x')
          await a.delete('/n/c/d')
          const isOfTheNode = (event: string): boolean => event.startsWith('NodeChildrenChanged')
          for (const event of await t.events(a)) if (!isOfTheNode(event)) t.see(event)
        },
        expect: ['NodeCreated /n/c', 'NodeCreated /n/c/d', 'NodeDataChanged /n/c/d', 'NodeDeleted /n/c/d'],
      },
    },
    {
      number: 9,
      since: '3.6',
      text: 'A recursive watch fires for the node at its path, too.',
      source: 'WatchManager.triggerWatch',
      follows: ['watches/1', 'watches/2', 'watches/11', 'watches/19', 'persistent-watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.setData('/n', 'x')
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n, NodeDeleted /n'],
      },
    },
    {
      number: 10,
      since: '3.6',
      text: 'A recursive watch never fires with `NodeChildrenChanged`: the events of the children say more.',
      source: 'WatchManager.triggerWatch; DataTree.addWatch',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.create('/n/c')
          await a.create('/n/c/d')
          await a.delete('/n/c/d')
          const events = await t.events(a)
          t.see(events.filter((event) => event.startsWith('NodeChildrenChanged')).join(', ') || 'none')
        },
        expect: ['none'],
      },
    },
    {
      number: 11,
      since: '3.6',
      text: 'A recursive watch does not fire for a node whose name merely begins like its own: `/n` does not cover `/nn`.',
      source: 'PathParentIterator',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.create('/nn')
          await a.create('/nn/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 12,
      since: '3.6',
      text: 'A recursive watch needs no node, and stays when its node is deleted.',
      source: 'DataTree.addWatch, WatchManager.triggerWatch',
      follows: ['persistent-watches/5', 'persistent-watches/8', 'persistent-watches/9', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.addWatch('/p/n', PERSISTENT_RECURSIVE)
          await a.create('/p')
          for (const _ of [1, 2]) {
            await a.create('/p/n')
            await a.create('/p/n/c')
            await a.delete('/p/n/c')
            await a.delete('/p/n')
            await t.seeEvents(a)
          }
        },
        expect: [
          'NodeCreated /p/n, NodeCreated /p/n/c, NodeDeleted /p/n/c, NodeDeleted /p/n',
          'NodeCreated /p/n, NodeCreated /p/n/c, NodeDeleted /p/n/c, NodeDeleted /p/n',
        ],
      },
    },
    {
      number: 13,
      profile: 'full',
      since: '3.6',
      text: 'The event of a sequential node has the whole path, with the number that the server has chosen.',
      source: 'DataTree.createNode',
      follows: ['persistent-watches/8', 'persistent-watches/10', 'sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.create('/n/s', { flags: CreateMode.PERSISTENT_SEQUENTIAL })
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n/s0000000000'],
      },
    },
    {
      number: 14,
      since: '3.6',
      text: 'A session receives one event for a change, however many of its recursive watches cover the node.',
      source: 'WatchManager.triggerWatch collects watchers in a set',
      follows: [
        'watches/19',
        'persistent-watches/2',
        'persistent-watches/8',
        'persistent-watches/9',
        'persistent-watches/10',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.addWatch('/n/c', PERSISTENT)
          await a.setData('/n/c', 'x')
          await a.delete('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n/c, NodeDeleted /n/c'],
      },
    },
    {
      number: 15,
      since: '3.6',
      text: 'To add a watch a second time, with the same path and mode, changes nothing.',
      source: 'WatchManager.addWatch',
      follows: ['persistent-watches/2', 'persistent-watches/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const [path, mode] of [
            ['/p', PERSISTENT],
            ['/r', PERSISTENT_RECURSIVE],
          ] as const) {
            await a.create(path)
            await a.addWatch(path, mode)
            await a.addWatch(path, mode)
            await a.setData(path, 'x')
            await t.seeEvents(a)
          }
        },
        expect: ['NodeDataChanged /p', 'NodeDataChanged /r'],
      },
    },
    {
      number: 16,
      profile: 'full',
      since: '3.6',
      text: 'A session may have a persistent and a recursive watch on one path, in either order: both fire.',
      source: 'WatchStats.addMode, ZOOKEEPER-4466',
      follows: [
        'watches/29',
        'persistent-watches/3',
        'persistent-watches/8',
        'persistent-watches/10',
        'persistent-watches/15',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const [path, ...modes] of [
            ['/m', PERSISTENT, PERSISTENT_RECURSIVE],
            ['/n', PERSISTENT_RECURSIVE, PERSISTENT],
          ] as const) {
            await a.create(path)
            for (const mode of modes) await a.addWatch(path, mode)
            await a.create(`${path}/c`)
            await t.seeEvents(a)
          }
        },
        expect: ['NodeCreated /m/c, NodeChildrenChanged /m', 'NodeCreated /n/c, NodeChildrenChanged /n'],
        differs: oneMode('The second mode replaces the first', ['NodeCreated /m/c', 'NodeChildrenChanged /n']),
      },
    },
    {
      number: 17,
      since: '3.6',
      text: 'A one-shot watch beside a persistent one on the same path leaves it alone: the persistent watch still fires later.',
      source: 'WatchStats.removeMode, ZOOKEEPER-4466',
      follows: ['watches/15', 'persistent-watches/2', 'persistent-watches/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const [path, mode] of [
            ['/p', PERSISTENT],
            ['/r', PERSISTENT_RECURSIVE],
          ] as const) {
            await a.create(path)
            await a.addWatch(path, mode)
            await a.getData(path, true)
            await a.setData(path, '1')
            await t.events(a)
            await a.setData(path, '2')
            await t.seeEvents(a)
          }
        },
        expect: ['NodeDataChanged /p', 'NodeDataChanged /r'],
        differs: oneMode('The one-shot watch replaces the persistent one', ['no event', 'no event']),
      },
    },
    {
      number: 18,
      since: '3.6',
      text: 'A session receives one event for a change that fires both a one-shot watch and a persistent one.',
      source: 'WatchManager.triggerWatch, ZOOKEEPER-4466',
      follows: ['watches/1', 'watches/2', 'watches/6', 'watches/17', 'watches/18', 'persistent-watches/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.setData('/n', 'x')
          await t.seeEvents(a, 'setData')
          await a.create('/n/c')
          await t.seeEvents(a, 'create')
        },
        expect: ['setData: NodeDataChanged /n', 'create: NodeChildrenChanged /n'],
      },
    },
    {
      number: 19,
      profile: 'full',
      since: '3.6',
      text: 'A child watch beside a recursive one on the same path still fires with `NodeChildrenChanged`.',
      source: 'DataTree.addWatch, WatchManager.triggerWatch',
      follows: ['watches/6', 'watches/15', 'watches/17', 'watches/29', 'persistent-watches/8', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          await a.getChildren('/n', true)
          await a.create('/n/c')
          await t.seeEvents(a, 'first')
          await a.create('/n/d')
          await t.seeEvents(a, 'second')
        },
        expect: ['first: NodeCreated /n/c, NodeChildrenChanged /n', 'second: NodeCreated /n/d'],
      },
    },
    {
      number: 20,
      since: '3.6',
      text: 'A mode other than 0 and 1 is a MarshallingError, and sets no watch.',
      source: 'WatcherMode.fromZooDef throws an IllegalArgumentException',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const mode of [-1, 2, 3]) t.see(t.error(await a.addWatch('/n', mode)))
          await a.create('/n')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['MarshallingError', 'MarshallingError', 'MarshallingError', 'no event'],
      },
    },
    {
      number: 21,
      profile: 'full',
      level: 'MAY',
      since: '3.6',
      text: '`addWatch` accepts any path, even an invalid one, whose watch can never fire.',
      source: 'FinalRequestProcessor.processRequest, DataTree.addWatch',
      follows: ['persistent-watches/1', 'persistent-watches/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['n', '', '/n/', '/n//c']) t.see(t.error(await a.addWatch(path, PERSISTENT)))
        },
        expect: ['Ok', 'Ok', 'Ok', 'Ok'],
      },
    },
    {
      number: 22,
      profile: 'full',
      since: '3.6',
      text: '`addWatch` needs no permission.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-4799',
      follows: ['persistent-watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          t.see(t.error(await a.addWatch('/n', PERSISTENT)))
          t.see(t.error(await a.addWatch('/n', PERSISTENT_RECURSIVE)))
        },
        expect: ['Ok', 'Ok'],
      },
    },
    {
      number: 23,
      since: '3.6',
      text: 'A persistent watch sends no event for a change of a node that the session may not read.',
      source: 'NIOServerCnxn.process, CVE-2024-23944, ZOOKEEPER-4799',
      follows: ['watches/40', 'persistent-watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          await a.addWatch('/n', PERSISTENT)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['no event'],
        differs: unfiltered(['NodeDataChanged /n']),
      },
    },
    {
      number: 24,
      profile: 'full',
      since: '3.6',
      text: 'A persistent watch whose event was withheld stays, and fires again when the session may read the node.',
      source: 'WatchManager.triggerWatch, NIOServerCnxn.process',
      follows: ['watches/12', 'persistent-watches/2', 'persistent-watches/22'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          await a.addWatch('/n', PERSISTENT)
          await a.setData('/n', '1')
          await t.events(a)
          await a.setACL('/n', open)
          await a.setData('/n', '2')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 25,
      since: '3.6',
      text: 'A recursive watch sends the events of the nodes that the session may read. The ACL of its own path does not matter.',
      source: 'NIOServerCnxn.process, CVE-2024-23944, ZOOKEEPER-4799',
      follows: ['watches/40', 'persistent-watches/8', 'persistent-watches/22'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          await a.create('/n/c')
          await a.create('/n/secret', { acl: unreadable })
          await a.addWatch('/n', PERSISTENT_RECURSIVE)
          for (const path of ['/n', '/n/secret', '/n/c']) await a.setData(path, 'x')
          await t.seeEvents(a)
          // So that what remains can be listed, and deleted, by everybody.
          await a.setACL('/n', open)
        },
        expect: ['NodeDataChanged /n/c'],
        differs: unfiltered(['NodeDataChanged /n, NodeDataChanged /n/secret, NodeDataChanged /n/c']),
      },
    },
    {
      number: 26,
      since: '3.6',
      text: 'Persistent watches end with their connection. Those of other sessions stay.',
      source: 'DataTree.removeCnxn',
      follows: ['persistent-watches/8', 'watches/24', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          await b.addWatch('/n', PERSISTENT)
          await b.addWatch('/', PERSISTENT_RECURSIVE)
          await b.drop()
          const resumed = await t.open({ session: b })
          await a.create('/n')
          await t.seeEvents(resumed)
          await t.seeEvents(a)
        },
        expect: ['no event', 'NodeCreated /n'],
      },
    },
    {
      number: 27,
      since: '3.6',
      text: 'A recursive watch fires for each operation of a `multi`, in their order, even if the node is gone in the end.',
      source: 'DataTree.processTxn',
      follows: ['watches/32', 'persistent-watches/8', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          await a.multi(
            { type: OpCode.create, request: { path: '/n', data: null, acl: open, flags: 0 } },
            { type: OpCode.setData, request: { path: '/n', data: utf8('x'), version: -1 } },
            { type: OpCode.delete, request: { path: '/n', version: -1 } },
          )
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n, NodeDataChanged /n, NodeDeleted /n'],
      },
    },
    {
      number: 28,
      since: '3.6',
      text: 'The event of a persistent watch comes before the reply to the change, if the same session has made it.',
      source: 'FinalRequestProcessor.processRequest applies a transaction before it answers',
      follows: ['watches/26', 'watches/29', 'persistent-watches/3', 'persistent-watches/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.addWatch('/n', PERSISTENT)
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          await t.events(a)
          await a.create('/n/c')
          await t.seeMessages(a)
        },
        expect: ['NodeCreated /n/c, NodeChildrenChanged /n, create'],
      },
    },
    {
      number: 29,
      profile: 'full',
      since: '3.6',
      text: 'The end of a session fires recursive watches for each of its ephemeral nodes.',
      source: 'DataTree.killSession',
      follows: ['watches/28', 'watches/36', 'persistent-watches/8', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          for (const path of ['/1', '/2', '/3']) await b.create(path, { flags: CreateMode.EPHEMERAL })
          await a.addWatch('/', PERSISTENT_RECURSIVE)
          await b.close()
          // Servers delete them in the order of a hash table.
          for (const event of (await t.events(a)).toSorted()) t.see(event)
        },
        expect: ['NodeDeleted /1', 'NodeDeleted /2', 'NodeDeleted /3'],
      },
    },
  ],
}

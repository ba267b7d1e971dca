import { CreateMode, OpCode } from '@zk/wire'
import { open, utf8 } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { unfiltered, unreadable } from './recurring.ts'

/** Before ZOOKEEPER-2590 (3.8.4, 3.9.2), exists needed no permission. */
const WITHOUT_READ = '`exists` needs no permission, so that it succeeds and sets the watch (ZOOKEEPER-2590).'

export const watches: Chapter = {
  name: 'watches',
  title: 'Watches',
  introduction:
    'A read with `watch: true` sets a watch at the server to which the session is connected: `getData` and `exists` set a ' +
    'data watch, `getChildren` and `getChildren2` a child watch. The first change that concerns the watch removes it, and ' +
    'the server sends an event: a frame with the header of a reply, whose xid is -1, and a `WatcherEvent` with the type of ' +
    'the change, a state, and the path of the node. An event says that a node has changed, but not how. A client that wants ' +
    'to know, or to be told of the next change, reads again.',
  clauses: [
    {
      number: 1,
      text: 'A data watch fires with `NodeDataChanged` when `setData` changes the node.',
      source: 'DataTree.setData, WatchManager.triggerWatch',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 2,
      text: 'A data watch fires with `NodeDeleted` when the node is deleted.',
      source: 'DataTree.deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDeleted /n'],
      },
    },
    {
      number: 3,
      text: '`exists` of a missing node answers with NoNode and yet sets a watch, which fires with `NodeCreated`.',
      source: 'FinalRequestProcessor.processRequest, DataTree.statNode and createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.exists('/n', true)
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: '`exists` sets a watch even if the parent is missing, too.',
      source: 'DataTree.statNode',
      follows: ['watches/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.exists('/p/n', true)
          await a.create('/p')
          await a.create('/p/n')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /p/n'],
      },
    },
    {
      number: 5,
      text: '`exists` of a node sets a data watch, as `getData` does: it fires on a change of the data and on deletion.',
      source: 'DataTree.statNode',
      follows: ['watches/1', 'watches/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.exists('/n', true)
          await a.setData('/n', 'x')
          await t.seeEvents(a, 'setData')
          await a.exists('/n', true)
          await a.delete('/n')
          await t.seeEvents(a, 'delete')
        },
        expect: ['setData: NodeDataChanged /n', 'delete: NodeDeleted /n'],
      },
    },
    {
      number: 6,
      text: 'A child watch fires with `NodeChildrenChanged` and the path of the parent when a child is created.',
      source: 'DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getChildren('/n', true)
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 7,
      text: 'A child watch fires with `NodeChildrenChanged` and the path of the parent when a child is deleted.',
      source: 'DataTree.deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          await a.getChildren('/n', true)
          await a.delete('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 8,
      text: 'A child watch fires with `NodeDeleted` when its own node is deleted.',
      source: 'DataTree.deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getChildren('/n', true)
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDeleted /n'],
      },
    },
    {
      number: 9,
      text: '`getChildren2` sets a child watch, as `getChildren` does.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getChildren2('/n', true)
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 10,
      text: 'A data watch does not fire when a child is created or deleted, although the Stat of the node changes.',
      source: 'DataTree.createNode and deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.create('/n/c')
          await a.delete('/n/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 11,
      text: 'A child watch fires neither for the data of the node or of its children, nor for nodes further below.',
      source: 'DataTree.setData, createNode and deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          await a.getChildren('/n', true)
          await a.setData('/n', 'x')
          await a.setData('/n/c', 'x')
          await a.create('/n/c/d')
          await a.delete('/n/c/d')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 12,
      text: '`setACL` fires no watch.',
      source: 'DataTree.setACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.setACL('/n', open)
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 13,
      text: '`setData` fires watches even if it writes the data that the node already has.',
      source: 'DataTree.setData',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { data: 'x' })
          await a.getData('/n', true)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: '`create2` and `createContainer` fire the same watches as `create`.',
      source: 'DataTree.processTxn',
      follows: ['watches/3', 'watches/6', 'watches/29'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          for (const op of ['create2', 'createContainer'] as const) {
            await a.exists(`/n/${op}`, true)
            await a.getChildren('/n', true)
            await a.create(`/n/${op}`, { op, flags: op === 'create2' ? CreateMode.PERSISTENT : CreateMode.CONTAINER })
            await t.seeEvents(a)
          }
        },
        expect: [
          'NodeCreated /n/create2, NodeChildrenChanged /n',
          'NodeCreated /n/createContainer, NodeChildrenChanged /n',
        ],
      },
    },
    {
      number: 15,
      text: 'A watch fires once: the first change removes it, and later changes send nothing.',
      source: 'WatchManager.triggerWatch',
      follows: ['watches/1', 'watches/3', 'watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.exists('/m', true)
          await a.setData('/n', '1')
          await a.create('/n/c')
          await a.create('/m')
          await t.events(a)
          await a.setData('/n', '2')
          await a.delete('/n/c')
          await a.delete('/m')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 16,
      text: 'A read with `watch: false` neither sets a watch nor removes one.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/1', 'watches/6', 'watches/11', 'watches/18'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          for (const session of [a, b]) {
            await session.getData('/n')
            await session.exists('/n')
            await session.getChildren('/n')
            await session.getChildren2('/n')
          }
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await t.seeEvents(a, 'with watches')
          await t.seeEvents(b, 'without')
        },
        expect: ['with watches: NodeDataChanged /n, NodeChildrenChanged /n', 'without: no event'],
      },
    },
    {
      number: 17,
      text: 'A session that sets a watch several times receives one event.',
      source: 'WatchManager.addWatch',
      follows: ['watches/1', 'watches/5', 'watches/6', 'watches/9', 'watches/11', 'watches/18'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          for (const read of ['getData', 'exists', 'getChildren', 'getChildren2'] as const) {
            await a[read]('/n', true)
            await a[read]('/n', true)
          }
          await a.setData('/n', 'x')
          await t.seeEvents(a, 'data')
          await a.create('/n/c')
          await t.seeEvents(a, 'children')
        },
        expect: ['data: NodeDataChanged /n', 'children: NodeChildrenChanged /n'],
      },
    },
    {
      number: 18,
      text: 'Data watches and child watches of a node are separate: when one of them fires, the other stays.',
      source: 'DataTree.dataWatches and childWatches',
      follows: ['watches/1', 'watches/6', 'watches/10', 'watches/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/m', '/n']) {
            await a.create(path)
            await a.getData(path, true)
            await a.getChildren(path, true)
          }
          await a.setData('/m', 'x')
          await a.create('/n/c')
          await t.events(a)
          await a.create('/m/c')
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeChildrenChanged /m, NodeDataChanged /n'],
      },
    },
    {
      number: 19,
      text: 'A session with a data watch and a child watch on a node receives one `NodeDeleted` when it is deleted.',
      source: 'DataTree.deleteNode: watchers of the first table are suppressed in the second',
      follows: ['watches/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDeleted /n'],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'A deletion removes both the data watch and the child watch, although it sends one event for them.',
      source: 'DataTree.deleteNode',
      follows: ['watches/2', 'watches/8', 'watches/15'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.getChildren('/n', true)
          await a.delete('/n')
          await t.events(a)
          await a.create('/n')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 21,
      text: '`getData`, `getChildren` and `getChildren2` of a missing node set no watch.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const read of ['getData', 'getChildren', 'getChildren2'] as const) await a[read]('/n', true)
          await a.create('/n')
          await a.create('/n/c')
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 22,
      text: 'A write that fails fires no watch.',
      source: 'PrepRequestProcessor.pRequest, DataTree.processTxn',
      follows: ['delete/3', 'delete/7', 'set-data/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.create('/n/c')
          for (const path of ['/n', '/n/c']) {
            await a.getData(path, true)
            await a.getChildren(path, true)
          }
          await a.exists('/m/c', true)
          await a.setData('/n', 'x', 7)
          await a.delete('/n')
          await a.delete('/n/c', 7)
          await a.create('/n/c')
          await a.create('/m/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 23,
      text: 'A change sends an event to each session that has a watch, and to no other session.',
      source: 'WatchManager.triggerWatch',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const [a, b, c] = [await t.open(), await t.open(), await t.open()]
          await a.create('/n')
          await b.getData('/n', true)
          await c.getData('/n', true)
          await a.setData('/n', 'x')
          await t.seeEvents(a, 'a')
          await t.seeEvents(b, 'b')
          await t.seeEvents(c, 'c')
        },
        expect: ['a: no event', 'b: NodeDataChanged /n', 'c: NodeDataChanged /n'],
      },
    },
    {
      number: 24,
      text: 'The end of another session that watches the same node does not touch a watch.',
      source: 'WatchManager.triggerWatch, DataTree.removeCnxn',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const [a, b, c] = [await t.open(), await t.open(), await t.open()]
          await a.create('/n')
          await a.getData('/n', true)
          await b.getData('/n', true)
          await b.close()
          await c.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 25,
      text: 'Watches end with their connection: a session that resumes on another one has none until it sets them again.',
      source: 'ServerCnxn, DataTree.removeCnxn',
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await b.getData('/n', true)
          await b.drop()
          const resumed = await t.open({ session: b })
          await a.setData('/n', 'x')
          await t.seeEvents(resumed)
        },
        expect: ['no event'],
      },
    },
    {
      number: 26,
      text: 'A session that changes a node which it watches receives the event before the reply to the change.',
      source: 'FinalRequestProcessor.processRequest applies a transaction before it answers',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await t.events(a)
          await a.setData('/n', 'x')
          await t.seeMessages(a)
        },
        expect: ['NodeDataChanged /n, setData'],
      },
    },
    {
      number: 27,
      text: 'A session receives the event before the reply to any read that shows the change of another session.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await a.getData('/n', true)
          await t.events(a)
          await b.setData('/n', 'x')
          await a.getData('/n')
          await t.seeMessages(a)
        },
        expect: ['NodeDataChanged /n, getData'],
      },
    },
    {
      number: 28,
      text: 'Events arrive in the order of the changes.',
      source: 'FinalRequestProcessor.processRequest applies transactions in the order of their zxids',
      follows: ['watches/1'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          for (const path of ['/1', '/2', '/3', '/4']) {
            await a.create(path)
            await a.getData(path, true)
          }
          await Promise.all(['/3', '/1', '/4', '/2'].map((path) => b.setData(path, 'x')))
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /3, NodeDataChanged /1, NodeDataChanged /4, NodeDataChanged /2'],
      },
    },
    {
      number: 29,
      level: 'SHOULD',
      text: 'When a node is created or deleted, its own event comes before that of its parent.',
      source: 'DataTree.createNode and deleteNode',
      follows: ['watches/2', 'watches/3', 'watches/6', 'watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.exists('/n/c', true)
          await a.getChildren('/n', true)
          await a.create('/n/c')
          await t.seeEvents(a)
          await a.getData('/n/c', true)
          await a.getChildren('/n', true)
          await a.delete('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n/c, NodeChildrenChanged /n', 'NodeDeleted /n/c, NodeChildrenChanged /n'],
      },
    },
    {
      number: 30,
      text: 'An event has the error 0 and the state 3 (`SyncConnected`), and nothing follows its path.',
      source: 'NIOServerCnxn.process, WatchedEvent.getWrapper',
      follows: ['watches/1', 'order/18'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setData('/n', 'x')
          await a.fence()
          for (const { err, event, rest } of a.connection.takeEvents()) {
            t.see(`error ${err} state ${event.state}, ${rest?.length ?? 0} bytes more`)
          }
        },
        expect: ['error 0 state 3, 0 bytes more'],
      },
    },
    {
      number: 31,
      profile: 'full',
      text: 'The zxid in the header of an event is that of the change.',
      source: 'NIOServerCnxn.process, ZOOKEEPER-4655',
      follows: ['watches/1', 'order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          const changed = await a.setData('/n', 'x')
          // Not the last transaction any more, when the event is received.
          await a.create('/m')
          await a.fence()
          for (const { zxid } of a.connection.takeEvents()) {
            t.see(zxid === changed?.zxid ? 'that of the change' : zxid === -1n ? zxid : 'another')
          }
        },
        expect: ['that of the change'],
        differs: [{ what: 'The zxid is always -1 (ZOOKEEPER-4655).', before: '3.9', expect: ['-1'] }],
      },
    },
    {
      number: 32,
      text: 'A `multi` fires the watches of each of its operations, in their order.',
      source: 'DataTree.processTxn',
      follows: ['watches/1', 'watches/2', 'watches/6', 'watches/28'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/1', '/2', '/3']) await a.create(path)
          await a.getData('/3', true)
          await a.getChildren('/1', true)
          await a.getData('/2', true)
          await a.multi(
            { type: OpCode.setData, request: { path: '/3', data: utf8('x'), version: -1 } },
            { type: OpCode.create, request: { path: '/1/c', data: null, acl: open, flags: 0 } },
            { type: OpCode.delete, request: { path: '/2', version: -1 } },
          )
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /3, NodeChildrenChanged /1, NodeDeleted /2'],
      },
    },
    {
      number: 33,
      text: 'The events of a `multi` come before its reply.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/26', 'watches/32'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/m', '/n']) {
            await a.create(path)
            await a.getData(path, true)
          }
          await t.events(a)
          await a.multi(
            { type: OpCode.setData, request: { path: '/m', data: utf8('x'), version: -1 } },
            { type: OpCode.setData, request: { path: '/n', data: utf8('x'), version: -1 } },
          )
          await t.seeMessages(a)
        },
        expect: ['NodeDataChanged /m, NodeDataChanged /n, multi'],
      },
    },
    {
      number: 34,
      text: 'A `multi` that fails fires no watch, not even those of the operations before the failure.',
      source: 'DataTree.processTxn',
      follows: ['multi/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.exists('/m', true)
          await a.multi(
            { type: OpCode.setData, request: { path: '/n', data: utf8('x'), version: -1 } },
            { type: OpCode.create, request: { path: '/m', data: null, acl: open, flags: 0 } },
            { type: OpCode.check, request: { path: '/n', version: 7 } },
          )
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 35,
      profile: 'full',
      since: '3.6',
      text: 'A `multiRead` sets no watch, whatever the `watch` of its parts says.',
      source: 'MultiOperationRecord.deserialize drops the field',
      follows: ['watches/16'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.call('multiRead', [
            { type: OpCode.getData, request: { path: '/n', watch: true } },
            { type: OpCode.getChildren, request: { path: '/n', watch: true } },
          ])
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 36,
      text: '`closeSession` fires the watches of the ephemeral nodes of the session and of their parents.',
      source: 'DataTree.killSession',
      follows: ['watches/2', 'watches/7'],
      check: {
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open()]
          await a.create('/n')
          await b.create('/n/e', { flags: CreateMode.EPHEMERAL })
          await a.getData('/n/e', true)
          await a.getChildren('/n', true)
          await b.close()
          await t.seeEvents(a)
        },
        expect: ['NodeDeleted /n/e, NodeChildrenChanged /n'],
      },
    },
    {
      number: 37,
      text: 'The expiry of a session fires the watches of its ephemeral nodes and of their parents.',
      source: 'ZooKeeperServer.expire, DataTree.killSession',
      follows: ['watches/2', 'watches/7'],
      check: {
        waits: true,
        play: async (t) => {
          const [a, b] = [await t.open(), await t.open({ timeOut: 1, pings: false })]
          await a.create('/n')
          await b.create('/n/e', { flags: CreateMode.EPHEMERAL })
          await a.getData('/n/e', true)
          await a.getChildren('/n', true)
          await t.until(async () => t.error(await a.exists('/n/e')) === 'NoNode')
          await t.seeEvents(a)
        },
        expect: ['NodeDeleted /n/e, NodeChildrenChanged /n'],
      },
    },
    {
      number: 38,
      text: 'A read that fails with NoAuth sets no watch.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/21'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          for (const read of ['getData', 'getChildren', 'getChildren2'] as const) await a[read]('/n', true)
          await a.setACL('/n', open)
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 39,
      text: '`exists` of a node that the session may not read sets no watch.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-2590',
      follows: ['watches/1', 'watches/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n', { acl: unreadable })
          t.see(t.error(await a.exists('/n', true)))
          await a.setACL('/n', open)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['NoAuth', 'no event'],
        differs: [
          { what: WITHOUT_READ, before: '3.8.4', expect: ['Ok', 'NodeDataChanged /n'] },
          { what: WITHOUT_READ, since: ['3.9.0'], before: '3.9.2', expect: ['Ok', 'NodeDataChanged /n'] },
        ],
      },
    },
    {
      number: 40,
      text: 'A watch that fires sends no event if, at the time of the change, the session may not read the node.',
      source: 'NIOServerCnxn.process, CVE-2024-23944, ZOOKEEPER-4799',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setACL('/n', unreadable)
          await a.setData('/n', 'x')
          await t.seeEvents(a)
        },
        expect: ['no event'],
        differs: unfiltered(['NodeDataChanged /n']),
      },
    },
    {
      number: 41,
      profile: 'full',
      level: 'SHOULD',
      text: 'A change whose event is withheld removes the watch all the same.',
      source: 'WatchManager.triggerWatch, NIOServerCnxn.process',
      follows: ['watches/15'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getData('/n', true)
          await a.setACL('/n', unreadable)
          await a.setData('/n', '1')
          await t.events(a)
          await a.setACL('/n', open)
          await a.setData('/n', '2')
          await t.seeEvents(a)
        },
        expect: ['no event'],
      },
    },
    {
      number: 42,
      profile: 'full',
      text: 'Whether `NodeCreated` is sent depends on the ACL of the new node.',
      source: 'DataTree.createNode, ZOOKEEPER-4799',
      follows: ['watches/40'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.exists('/n', true)
          await a.create('/n', { acl: unreadable })
          await t.seeEvents(a)
        },
        expect: ['no event'],
        differs: unfiltered(['NodeCreated /n']),
      },
    },
    {
      number: 43,
      profile: 'full',
      text: 'Whether `NodeDeleted` is sent depends on the last ACL of the deleted node.',
      source: 'DataTree.deleteNode, ZOOKEEPER-4799',
      follows: ['watches/40'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.exists('/n', true)
          await a.setACL('/n', unreadable)
          await a.delete('/n')
          await t.seeEvents(a)
        },
        expect: ['no event'],
        differs: unfiltered(['NodeDeleted /n']),
      },
    },
    {
      number: 44,
      profile: 'full',
      text: 'Whether `NodeChildrenChanged` is sent depends on the ACL of the parent, not on that of the child.',
      source: 'DataTree.createNode and deleteNode, ZOOKEEPER-4799',
      follows: ['watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.getChildren('/n', true)
          await a.create('/n/c', { acl: unreadable })
          await t.seeEvents(a)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
  ],
}

import { toHex } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { oneMode } from './recurring.ts'

export const setWatches2: Chapter = {
  name: 'set-watches2',
  title: 'Persistent watches after a reconnection: setWatches2',
  introduction:
    '`setWatches2` (opcode 105, from 3.6 on) is `setWatches` with two lists more: the paths of persistent and of recursive ' +
    'watches. Clients send it if they have such watches, and `setWatches` if not. A server does not keep what a persistent ' +
    'watch has missed: after each reconnection a client must read again what it follows.',
  clauses: [
    {
      number: 1,
      since: '3.6',
      text: 'The first three lists are treated as those of `setWatches`.',
      source: 'DataTree.setWatches',
      follows: [
        'watches/18',
        'set-watches/1',
        'set-watches/2',
        'set-watches/6',
        'set-watches/7',
        'set-watches/10',
        'set-watches/11',
        'set-watches/19',
        'set-watches/12',
      ],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.setWatches2({ dataWatches: ['/n'], existWatches: ['/n'], childWatches: ['/n'] }, 0n)
          await t.seeEvents(a, 'missed')
          await a.setWatches2({ dataWatches: ['/n'], existWatches: ['/m'], childWatches: ['/n'] })
          await t.seeEvents(a, 'unchanged')
          await a.setData('/n', 'x')
          await a.create('/m')
          await a.create('/n/c')
          await t.seeEvents(a, 'later')
        },
        expect: [
          'missed: NodeDataChanged /n, NodeCreated /n, NodeChildrenChanged /n',
          'unchanged: no event',
          'later: NodeDataChanged /n, NodeCreated /m, NodeChildrenChanged /n',
        ],
      },
    },
    {
      number: 2,
      since: '3.6',
      text: 'The fourth list sets persistent watches.',
      source: 'DataTree.setWatches, ZOOKEEPER-1416',
      follows: ['persistent-watches/2', 'persistent-watches/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.setWatches2({ persistentWatches: ['/n'] })
          await a.setData('/n', '1')
          await a.setData('/n', '2')
          await a.create('/n/c')
          await a.setData('/n/c', 'x')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n, NodeDataChanged /n, NodeChildrenChanged /n'],
      },
    },
    {
      number: 3,
      since: '3.6',
      text: 'The fifth list sets recursive watches.',
      source: 'DataTree.setWatches, ZOOKEEPER-1416',
      follows: ['persistent-watches/8', 'persistent-watches/9', 'persistent-watches/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.setWatches2({ persistentRecursiveWatches: ['/n'] })
          await a.setData('/n', 'x')
          await a.create('/n/c')
          await a.create('/n/c/d')
          await a.delete('/n/c/d')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /n, NodeCreated /n/c, NodeCreated /n/c/d, NodeDeleted /n/c/d'],
      },
    },
    {
      number: 4,
      since: '3.6',
      text: 'Persistent watches are set without events for what was missed, not even that a node was deleted.',
      source: 'DataTree.setWatches',
      check: {
        play: async (t) => {
          const [a, lost] = [await t.open(), await t.open()]
          await a.create('/changed')
          await a.create('/deleted')
          const paths = ['/changed', '/deleted', '/created']
          await lost.exists('/')
          await lost.drop()
          await a.setData('/changed', 'x')
          await a.create('/changed/c')
          await a.delete('/deleted')
          await a.create('/created')
          const b = await t.open({ session: lost })
          await b.setWatches2({ persistentWatches: paths, persistentRecursiveWatches: ['/'] }, lost.lastZxid)
          await t.seeEvents(b)
        },
        expect: ['no event'],
      },
    },
    {
      number: 5,
      since: '3.6',
      text: 'Persistent watches are set on missing nodes, too.',
      source: 'DataTree.setWatches',
      follows: ['persistent-watches/5', 'set-watches2/2', 'set-watches2/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.setWatches2({ persistentWatches: ['/n'] })
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 6,
      profile: 'full',
      since: '3.6',
      text: 'A path that is in several lists has all these watches.',
      source: 'WatchStats.addMode, ZOOKEEPER-4466',
      follows: ['persistent-watches/16', 'set-watches2/2', 'set-watches2/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.setWatches2({ persistentWatches: ['/n'], persistentRecursiveWatches: ['/n'] })
          await a.create('/n/c')
          await t.seeEvents(a)
        },
        expect: ['NodeCreated /n/c, NodeChildrenChanged /n'],
        differs: oneMode('It has only that of the last list', ['NodeCreated /n/c']),
      },
    },
    {
      number: 7,
      since: '3.6',
      text: 'The reply has no body, and comes under the xid of the request, which is -8 by convention.',
      source: 'ClientCnxn.SET_WATCHES_XID, FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.setWatches2({ persistentWatches: ['/n'] })
          t.see(
            t.error(reply),
            'xid',
            reply?.xid ?? 'none',
            reply?.rest === undefined ? 'without a body' : toHex(reply.rest),
          )
        },
        expect: ['Ok xid -8 without a body'],
      },
    },
    {
      number: 8,
      since: '3.6',
      text: 'The events of missed changes come before the reply.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/26', 'set-watches2/1', 'set-watches2/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await t.events(a)
          await a.setWatches2({ dataWatches: ['/n'], persistentWatches: ['/m'] }, 0n)
          await t.seeMessages(a)
        },
        expect: ['NodeDataChanged /n, setWatches2'],
      },
    },
    {
      number: 9,
      profile: 'full',
      level: 'SHOULD',
      since: '3.6',
      text: 'A list of persistent watches that is null is a MarshallingError.',
      source: 'DataTree.setWatches throws a NullPointerException',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const list of ['persistentWatches', 'persistentRecursiveWatches'] as const) {
            t.see(t.error(await a.setWatches2({ [list]: null })))
          }
        },
        expect: ['MarshallingError', 'MarshallingError'],
      },
    },
  ],
}

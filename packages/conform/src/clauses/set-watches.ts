import { open, type Session, toHex } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { unfiltered, unreadable } from './recurring.ts'
import type { Trial } from './trial.ts'

type Lists = Parameters<Session['setWatches']>[0]

/**
 * Opens two sessions. After `before`, the second loses its connection. After `gap` it resumes, and sets watches relative to
 * the last zxid that it has seen.
 */
async function reconnect(
  t: Trial,
  {
    before,
    gap,
    lists,
  }: {
    readonly before?: (a: Session) => Promise<unknown>
    readonly gap?: (a: Session) => Promise<unknown>
    readonly lists: Lists
  },
): Promise<{ readonly a: Session; readonly b: Session }> {
  const [a, lost] = [await t.open(), await t.open()]
  await before?.(a)
  // So that the last zxid is that of no watched node.
  await a.create('/before')
  await lost.exists('/before')
  await lost.drop()
  await gap?.(a)
  const b = await t.open({ session: lost })
  await b.setWatches(lists, lost.lastZxid)
  return { a, b }
}

export const setWatches: Chapter = {
  name: 'set-watches',
  title: 'Watches after a reconnection: setWatches',
  introduction:
    'Watches end with their connection. A client that has resumed its session sets them again with `setWatches` (opcode ' +
    '101): three lists of paths, for data watches of nodes that existed, for watches of missing nodes (which `exists` sets), ' +
    'and for child watches, and `relativeZxid`, the last zxid that it has seen. For each path the server compares the node ' +
    'with that zxid. If something was missed, it sends the event at once; otherwise it sets the watch. So a change during ' +
    'the gap is told exactly like a later change, with one exception: a node that was created and deleted again.',
  clauses: [
    {
      number: 1,
      text: 'A data watch of a node that has not changed is set, without an event, and fires on the next change.',
      source: 'DataTree.setWatches',
      follows: ['watches/1', 'order/13', 'sessions/1'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b, 'at once')
          await a.setData('/n', 'x')
          await t.seeEvents(b, 'later')
        },
        expect: ['at once: no event', 'later: NodeDataChanged /n'],
      },
    },
    {
      number: 2,
      text: 'A data watch of a node whose data has changed is answered with `NodeDataChanged`.',
      source: 'DataTree.setWatches compares mzxid',
      follows: ['stat/3', 'sessions/1'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: (a) => a.setData('/n', 'x'),
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 3,
      text: 'A data watch of a node that was deleted is answered with `NodeDeleted`.',
      source: 'DataTree.setWatches',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: (a) => a.delete('/n'),
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeDeleted /n'],
      },
    },
    {
      number: 4,
      text: 'A data watch of a node that was deleted and created again is answered with `NodeDataChanged`.',
      source: 'DataTree.setWatches compares mzxid',
      follows: ['set-watches/2'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: async (a) => {
              await a.delete('/n')
              await a.create('/n')
            },
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeDataChanged /n'],
      },
    },
    {
      number: 5,
      text: 'New children and a new ACL do not concern a data watch.',
      source: 'DataTree.setWatches compares mzxid',
      follows: ['stat/4', 'order/13'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: async (a) => {
              await a.create('/n/c')
              await a.setACL('/n', open)
            },
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['no event'],
      },
    },
    {
      number: 6,
      text: 'A watch of a missing node is set, without an event, if the node is still missing, and fires when it is created.',
      source: 'DataTree.setWatches',
      follows: ['watches/3', 'sessions/1'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, { lists: { existWatches: ['/n'] } })
          await t.seeEvents(b, 'at once')
          await a.create('/n')
          await t.seeEvents(b, 'later')
        },
        expect: ['at once: no event', 'later: NodeCreated /n'],
      },
    },
    {
      number: 7,
      text: 'A watch of a missing node that was created is answered with `NodeCreated`.',
      source: 'DataTree.setWatches',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, { gap: (a) => a.create('/n'), lists: { existWatches: ['/n'] } })
          await t.seeEvents(b)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 8,
      text: 'A watch of a missing node that was created and deleted again is set: this change is not told.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/6'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            gap: async (a) => {
              await a.create('/n')
              await a.delete('/n')
            },
            lists: { existWatches: ['/n'] },
          })
          await t.seeEvents(b, 'at once')
          await a.create('/n')
          await t.seeEvents(b, 'later')
        },
        expect: ['at once: no event', 'later: NodeCreated /n'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text:
        'A watch of a missing node is answered with `NodeCreated` if there is a node, however old it is: a client lists the ' +
        '`exists` watches of existing nodes as data watches.',
      source: 'DataTree.setWatches compares no zxid',
      follows: ['set-watches/7'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            lists: { existWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 10,
      text: 'A child watch of a node whose children have not changed is set, and fires on the next change.',
      source: 'DataTree.setWatches',
      follows: ['watches/6', 'order/13', 'sessions/1'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b, 'at once')
          await a.create('/n/c')
          await t.seeEvents(b, 'later')
        },
        expect: ['at once: no event', 'later: NodeChildrenChanged /n'],
      },
    },
    {
      number: 11,
      text: 'A child watch of a node that has a new child is answered with `NodeChildrenChanged`.',
      source: 'DataTree.setWatches compares pzxid',
      follows: ['stat/11', 'sessions/1'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: (a) => a.create('/n/c'),
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 12,
      text: 'A child watch of a node that has lost a child is answered with `NodeChildrenChanged`.',
      source: 'DataTree.deleteNode moves pzxid, ZOOKEEPER-3145',
      follows: ['set-watches/11', 'stat/12'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: async (a) => {
              await a.create('/n')
              await a.create('/n/c')
            },
            gap: (a) => a.delete('/n/c'),
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: 'A child watch of a node on which a child was created and deleted again is answered with `NodeChildrenChanged`.',
      source: 'DataTree.setWatches compares pzxid, not the children',
      follows: ['set-watches/11', 'set-watches/12'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: async (a) => {
              await a.create('/n/c')
              await a.delete('/n/c')
            },
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 14,
      text: 'A child watch of a node that was deleted is answered with `NodeDeleted`.',
      source: 'DataTree.setWatches',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: (a) => a.delete('/n'),
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeDeleted /n'],
      },
    },
    {
      number: 15,
      text: 'A child watch of a node that was deleted and created again is answered with `NodeChildrenChanged`.',
      source: 'DataTree.setWatches: the pzxid of a new node is its czxid',
      follows: ['set-watches/11', 'set-watches/12'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: async (a) => {
              await a.delete('/n')
              await a.create('/n')
            },
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeChildrenChanged /n'],
      },
    },
    {
      number: 16,
      text: 'The data of the node and of its children, and nodes further below, do not concern a child watch.',
      source: 'DataTree.setWatches compares pzxid',
      follows: ['stat/13', 'order/13'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: async (a) => {
              await a.create('/n')
              await a.create('/n/c')
            },
            gap: async (a) => {
              await a.setData('/n', 'x')
              await a.setData('/n/c', 'x')
              await a.create('/n/c/d')
            },
            lists: { childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['no event'],
      },
    },
    {
      number: 17,
      text: 'A watch that was answered with an event is not set, because it has fired.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/2', 'set-watches/7', 'set-watches/11'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            before: async (a) => {
              await a.create('/data')
              await a.create('/children')
            },
            gap: async (a) => {
              await a.setData('/data', 'x')
              await a.create('/children/c')
              await a.create('/exist')
            },
            lists: { dataWatches: ['/data'], existWatches: ['/exist'], childWatches: ['/children'] },
          })
          await t.events(b)
          await a.setData('/data', 'y')
          await a.create('/children/d')
          await a.setData('/exist', 'y')
          await t.seeEvents(b)
        },
        expect: ['no event'],
      },
    },
    {
      number: 18,
      text: 'A watch that `setWatches` has set fires once, like that of a read.',
      source: 'WatchManager.addWatch',
      follows: ['watches/15'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            lists: { dataWatches: ['/n'], childWatches: ['/n'] },
          })
          await a.setData('/n', '1')
          await a.create('/n/c')
          await t.events(b)
          await a.setData('/n', '2')
          await a.create('/n/d')
          await t.seeEvents(b)
        },
        expect: ['no event'],
      },
    },
    {
      number: 19,
      text: 'A change was missed if its zxid is greater than `relativeZxid`. The change with this very zxid was seen.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/2', 'set-watches/11', 'order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/m')
          await a.create('/n')
          const changed = await a.setData('/m', 'x')
          const grown = await a.create('/n/c')
          for (const [list, path, zxid = 0n] of [
            ['dataWatches', '/m', changed?.zxid],
            ['childWatches', '/n', grown?.zxid],
          ] as const) {
            await a.setWatches({ [list]: [path] }, zxid)
            await t.seeEvents(a, `${list}, equal`)
            await a.setWatches({ [list]: [path] }, zxid - 1n)
            await t.seeEvents(a, `${list}, smaller`)
          }
        },
        expect: [
          'dataWatches, equal: no event',
          'dataWatches, smaller: NodeDataChanged /m',
          'childWatches, equal: no event',
          'childWatches, smaller: NodeChildrenChanged /n',
        ],
      },
    },
    {
      number: 20,
      text: 'The events of missed changes come before the reply.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['watches/26', 'set-watches/2', 'set-watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await t.events(a)
          await a.setWatches({ dataWatches: ['/n'], existWatches: ['/n'] }, 0n)
          await t.seeMessages(a)
        },
        expect: ['NodeDataChanged /n, NodeCreated /n, setWatches'],
      },
    },
    {
      number: 21,
      profile: 'full',
      level: 'SHOULD',
      text: 'The events come in the order of the lists: data, then missing nodes, then children.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/2', 'set-watches/7', 'set-watches/11', 'set-watches/12'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/1', '/2']) await a.create(path)
          const paths = ['/2', '/1']
          await a.setWatches({ childWatches: paths, existWatches: paths, dataWatches: paths }, 0n)
          for (const event of await t.events(a)) t.see(event)
        },
        expect: [
          'NodeDataChanged /2',
          'NodeDataChanged /1',
          'NodeCreated /2',
          'NodeCreated /1',
          'NodeChildrenChanged /2',
          'NodeChildrenChanged /1',
        ],
      },
    },
    {
      number: 22,
      profile: 'full',
      text:
        'Each entry is judged by itself: a deleted node is told once for its data watch and once for its child watch, although ' +
        'a deletion that comes later is told once.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/3', 'set-watches/14'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n'),
            gap: (a) => a.delete('/n'),
            lists: { dataWatches: ['/n'], childWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['NodeDeleted /n, NodeDeleted /n'],
        allowed: [['NodeDeleted /n']],
      },
    },
    {
      number: 23,
      profile: 'full',
      text: 'The zxid in the header of these events is -1, because the server does not know which changes they were.',
      source: 'DataTree.setWatches, WatchedEvent.NO_ZXID',
      follows: ['set-watches/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          await a.setWatches({ dataWatches: ['/n'] }, 0n)
          await a.fence()
          for (const { zxid } of a.connection.takeEvents()) t.see(zxid === -1n ? zxid : 'another')
        },
        expect: ['-1'],
      },
    },
    {
      number: 24,
      text: 'The reply has no body. Clients send the request under xid -8, and the reply has the same.',
      source: 'ClientCnxn.SET_WATCHES_XID, FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.setWatches({})
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
      number: 25,
      profile: 'full',
      text: 'Any other xid is as good.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          const request = { relativeZxid: 0n, dataWatches: ['/n'], existWatches: [], childWatches: [] }
          const reply = await a.call('setWatches', request, { xid: 77 })
          t.see(t.error(reply), 'xid', reply?.xid ?? 'none')
        },
        expect: ['Ok xid 77'],
      },
    },
    {
      number: 26,
      text: 'Several requests add to each other: a client with many watches sends one for each 128 KiB of paths.',
      source: 'ClientCnxn.SET_WATCHES_MAX_LENGTH, ZOOKEEPER-706',
      follows: ['set-watches/1', 'set-watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/m')
          await a.setWatches({ dataWatches: ['/m'] })
          await a.setWatches({ existWatches: ['/n'] })
          await a.setData('/m', 'x')
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['NodeDataChanged /m, NodeCreated /n'],
      },
    },
    {
      number: 27,
      profile: 'full',
      text: 'The lists have no limit but that of a frame, `jute.maxbuffer`.',
      source: 'NIOServerCnxn.readLength, BinaryInputArchive',
      follows: ['set-watches/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          // Together about 300 kB.
          const paths = Array.from({ length: 3_000 }, (_, index) => `/missing-${index}`)
          t.see(t.error(await a.setWatches({ existWatches: [...paths, '/n'] })))
          await a.create('/n')
          await t.seeEvents(a)
        },
        expect: ['Ok', 'NodeCreated /n'],
      },
    },
    {
      number: 28,
      profile: 'full',
      level: 'MAY',
      text: 'Paths are not checked: an invalid one is that of a missing node.',
      source: 'DataTree.setWatches',
      follows: ['set-watches/3', 'set-watches/14'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.setWatches({ dataWatches: ['n'], existWatches: ['n'], childWatches: ['/n/'] })))
          await t.seeEvents(a)
        },
        expect: ['Ok', 'NodeDeleted n, NodeDeleted /n/'],
      },
    },
    {
      number: 29,
      profile: 'full',
      level: 'SHOULD',
      text: 'A list that is null is a MarshallingError.',
      source: 'DataTree.setWatches throws a NullPointerException',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const list of ['dataWatches', 'existWatches', 'childWatches'] as const) {
            t.see(t.error(await a.setWatches({ [list]: null })))
          }
        },
        expect: ['MarshallingError', 'MarshallingError', 'MarshallingError'],
      },
    },
    {
      number: 30,
      profile: 'full',
      text: 'No event of a missed change is sent for a node that the session may not read.',
      source: 'DataTree.setWatches, which gives ServerCnxn.process the ACL of the node',
      follows: ['set-watches/2'],
      check: {
        play: async (t) => {
          const { b } = await reconnect(t, {
            before: (a) => a.create('/n', { acl: unreadable }),
            gap: (a) => a.setData('/n', 'x'),
            lists: { dataWatches: ['/n'] },
          })
          await t.seeEvents(b)
        },
        expect: ['no event'],
        differs: [
          { before: '3.8.7', what: 'It is sent: only later events are withheld.', expect: ['NodeDataChanged /n'] },
          {
            since: ['3.9.0'],
            before: '3.9.6',
            what: 'It is sent: only later events are withheld.',
            expect: ['NodeDataChanged /n'],
          },
        ],
      },
    },
    {
      number: 31,
      profile: 'full',
      text: 'A watch that was set again on a node that the session may not read sends no event, like any other.',
      source: 'NIOServerCnxn.process, CVE-2024-23944, ZOOKEEPER-4799',
      follows: ['watches/40'],
      check: {
        play: async (t) => {
          const { a, b } = await reconnect(t, {
            before: (a) => a.create('/n', { acl: unreadable }),
            lists: { dataWatches: ['/n'] },
          })
          await a.setData('/n', 'x')
          await t.seeEvents(b)
        },
        expect: ['no event'],
        differs: unfiltered(['NodeDataChanged /n']),
      },
    },
  ],
}

import { CreateMode } from '@zk/wire'
import type { Chapter } from './clause.ts'

const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL, CONTAINER } = CreateMode

export const ephemeral: Chapter = {
  name: 'ephemeral',
  title: 'Ephemeral nodes',
  introduction:
    'An ephemeral node belongs to the session that created it, and lives at most as long as this session: whether the client closes ' +
    'the session or lets it expire, the server deletes all its ephemeral nodes. It has no children. In all other respects it is a node ' +
    'like any other, which every session may read, change and delete as its ACL allows.',
  clauses: [
    {
      number: 1,
      text: 'When a session closes, its ephemeral nodes are deleted, wherever they are. They are gone when `closeSession` is answered.',
      source: 'DataTree.killSession',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await b.create('/p')
          for (const path of ['/e', '/p/e']) await a.create(path, { flags: EPHEMERAL })
          t.see(t.error(await b.exists('/e')), t.error(await b.exists('/p/e')))
          await a.close()
          t.see(t.error(await b.exists('/e')), t.error(await b.exists('/p/e')))
        },
        expect: ['Ok Ok', 'NoNode NoNode'],
      },
    },
    {
      number: 2,
      text: 'When a session expires, its ephemeral nodes are deleted.',
      source: 'SessionTrackerImpl.run, DataTree.killSession',
      follows: ['ephemeral/12', 'sessions/8'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          const silent = await t.open({ timeOut: 1, pings: false })
          await silent.create('/e', { flags: EPHEMERAL })
          t.see(t.error(await a.exists('/e', true)))
          await t.heard(a, 1)
          t.see(t.error(await a.exists('/e')))
        },
        expect: ['Ok', 'NoNode'],
      },
    },
    {
      number: 3,
      text: 'The end of a session leaves the ephemeral nodes of other sessions, and the persistent nodes, alone.',
      source: 'DataTree.killSession',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/mine', { flags: EPHEMERAL })
          await a.create('/persistent')
          await b.create('/theirs', { flags: EPHEMERAL })
          await a.close()
          t.see(t.children(await b.getChildren('/')))
        },
        expect: ['[persistent, theirs]'],
      },
    },
    {
      number: 4,
      text: 'The loss of a connection deletes nothing: when the client has resumed its session, the nodes still exist, and still belong to it.',
      source: 'ZooKeeperServer.reopenSession',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          await a.drop()
          const again = await t.open({ session: a })
          const owner = t.statOf(await again.exists('/e'))?.ephemeralOwner
          t.see('exists', owner !== undefined, 'belongs to it', owner === again.sessionId)
          const b = await t.open()
          await again.close()
          t.see(t.error(await b.exists('/e')))
        },
        expect: ['exists true belongs to it true', 'NoNode'],
      },
    },
    {
      number: 5,
      text: 'An ephemeral node has no children: a create below it fails with `NoChildrenForEphemerals`, whatever its flags, also for its own session.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          for (const flags of [PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL]) {
            t.see(flags, t.error(await a.create('/e/a', { flags })))
          }
          t.see('container', t.error(await a.create('/e/c', { op: 'createContainer', flags: CONTAINER })))
          t.see(t.children(await a.getChildren('/e')))
        },
        expect: [
          '0 NoChildrenForEphemerals',
          '1 NoChildrenForEphemerals',
          '2 NoChildrenForEphemerals',
          '3 NoChildrenForEphemerals',
          'container NoChildrenForEphemerals',
          '[]',
        ],
      },
    },
    {
      number: 6,
      text: 'Other sessions read, change and delete an ephemeral node like any other.',
      source: 'PrepRequestProcessor.pRequest2Txn: the owner is not compared',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/e', { flags: EPHEMERAL, data: 'a' })
          t.see(t.data(await b.getData('/e')))
          t.see(t.error(await b.setData('/e', 'b')), t.error(await b.delete('/e')))
        },
        expect: ["'a'", 'Ok Ok'],
      },
    },
    {
      number: 7,
      text: 'A change by another session does not change the owner.',
      source: 'DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          const owner = t.statOf(await b.setData('/e', 'b'))?.ephemeralOwner
          t.see(owner === a.sessionId)
          await a.close()
          t.see(t.error(await b.exists('/e')))
        },
        expect: ['true', 'NoNode'],
      },
    },
    {
      number: 8,
      text: 'If an ephemeral node is deleted and its name is created again as a persistent node, the end of the first session does not delete it.',
      source: 'DataTree.deleteNode: removes the path from those of the session',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          await b.delete('/e')
          await b.create('/e')
          await a.close()
          t.see(t.error(await b.exists('/e')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 9,
      text: 'The same holds if another session creates the name again as an ephemeral node: only its own end deletes it.',
      source: 'DataTree.deleteNode, createNode',
      follows: ['ephemeral/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          const c = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          await b.delete('/e')
          await b.create('/e', { flags: EPHEMERAL })
          await a.close()
          t.see(t.error(await c.exists('/e')))
          await b.close()
          t.see(t.error(await c.exists('/e')))
        },
        expect: ['Ok', 'NoNode'],
      },
    },
    {
      number: 10,
      text: 'The end of a session is one transaction: all its ephemeral nodes are deleted with one zxid.',
      source: 'DataTree.killSession',
      follows: ['stat/12'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          for (const path of ['/p', '/q']) await b.create(path)
          for (const path of ['/p/e', '/q/e']) await a.create(path, { flags: EPHEMERAL })
          const before = t.statOf(await b.exists('/q'))?.pzxid ?? 0n
          await a.close()
          const p = t.statOf(await b.exists('/p'))?.pzxid ?? 0n
          const q = t.statOf(await b.exists('/q'))?.pzxid ?? 0n
          t.see('equal', p === q, 'later', p > before)
        },
        expect: ['equal true later true'],
      },
    },
    {
      number: 11,
      text: 'The deletion at the end of a session raises `cversion` of the parent by 1 for each node.',
      source: 'DataTree.deleteNode, DataNode.copyStat',
      follows: ['stat/10'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await b.create('/p')
          for (const path of ['/p/1', '/p/2']) await a.create(path, { flags: EPHEMERAL })
          const before = t.statOf(await b.exists('/p'))?.cversion ?? 0
          await a.close()
          t.see((t.statOf(await b.exists('/p'))?.cversion ?? 0) - before)
        },
        expect: ['2'],
      },
    },
    {
      number: 12,
      text: 'The deletion at the end of a session fires the watches of the node and of its parent, as a `delete` does.',
      source: 'DataTree.deleteNode',
      follows: ['watches/2', 'watches/5', 'watches/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await b.create('/p')
          await a.create('/p/e', { flags: EPHEMERAL })
          await b.exists('/p/e', true)
          await b.getChildren('/p', true)
          await a.close()
          for (const event of (await t.events(b)).toSorted()) t.see(event)
        },
        expect: ['NodeChildrenChanged /p', 'NodeDeleted /p/e'],
      },
    },
    {
      number: 13,
      text: 'An ephemeral node that is created just before its session closes, while the create is not answered yet, is deleted as well.',
      source: 'PrepRequestProcessor.pRequest2Txn: closeSession takes outstanding changes into account',
      follows: ['order/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          const [reply] = await Promise.all([a.create('/e', { flags: EPHEMERAL }), a.close()])
          t.see(t.error(reply), t.error(await b.exists('/e')))
        },
        expect: ['Ok NoNode'],
      },
    },
    {
      number: 14,
      text: 'An ephemeral sequential node is deleted at the end of the session, too, and its number is not given again.',
      source: 'DataTree.killSession',
      follows: ['sequential/6', 'reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/n-', { flags: EPHEMERAL_SEQUENTIAL })
          await a.close()
          t.see(t.children(await b.getChildren('/')))
          t.see(t.path(await b.create('/n-', { flags: EPHEMERAL_SEQUENTIAL })))
        },
        expect: ['[]', '/n-0000000001'],
      },
    },
  ],
}

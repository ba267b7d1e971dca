import { CreateMode, Perms } from '@zk/wire'
import { ops as parts } from '../play/index.ts'
import type { Chapter } from './clause.ts'

/** With ADMIN, so that an ordinary user can delete the children afterwards. */
const readOnly = [{ perms: Perms.READ | Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } }]
const ops = ['create', 'create2', 'createContainer'] as const

export const create: Chapter = {
  name: 'create',
  title: 'create and create2',
  introduction:
    'Both requests have the same fields: path, data, ACL and flags. `create` is answered with the path of the new node, `create2` ' +
    'with the path and the Stat. The flags are a number, not a bit mask: 0 persistent, 1 ephemeral, 2 persistent sequential, ' +
    '3 ephemeral sequential. A server checks a request in this order: flags, session, slash in the path, ACL, parent, ' +
    'permission `CREATE` on the parent, names in the path, existing node, ephemeral parent, quota. The first failure is the answer.',
  clauses: [
    {
      number: 1,
      text: '`create` makes a node, and is answered with its path.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate, DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/a')))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['/a', 'Ok'],
      },
    },
    {
      number: 2,
      text: '`create2` makes a node, and is answered with its path and its Stat.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-1297',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.create('/a', { data: 'four', op: 'create2' })
          t.see(t.path(reply), t.stat(reply, 'version', 'dataLength', 'numChildren'))
          const stat = t.statOf(await a.exists('/a'))
          t.see(stat !== undefined && t.statOf(reply)?.czxid === stat.czxid)
        },
        expect: ['/a version 0 dataLength 4 numChildren 0', 'true'],
      },
    },
    {
      number: 3,
      text: 'The node has exactly the bytes that were sent as its data.',
      source: 'DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'text' })
          await a.create('/b', { data: Uint8Array.of(0, 0xff, 0x80, 0x0a) })
          t.see(t.data(await a.getData('/a')), t.data(await a.getData('/b')))
        },
        expect: ["'text' 0x00ff800a"],
      },
    },
    {
      number: 4,
      text: 'Empty data stays empty: `getData` answers with zero bytes, not with null.',
      source: 'DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: '' })
          t.see(t.data(await a.getData('/a')))
        },
        expect: ["''"],
      },
    },
    {
      number: 5,
      text: 'Null data (length -1) stays null, also in a multi: `getData` answers with null, not with zero bytes.',
      source: 'DataTree.createNode',
      follows: ['multi/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: null })
          await a.multi(parts.create('/b', { data: null }))
          for (const path of ['/a', '/b']) t.see(t.data(await a.getData(path)))
        },
        expect: ['null', 'null'],
      },
    },
    {
      number: 6,
      text: 'A node with flags 0 outlives the session that has created it.',
      source: 'DataTree.createNode, DataTree.killSession',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/a', { flags: CreateMode.PERSISTENT })
          await a.close()
          t.see(t.error(await b.exists('/a')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 7,
      text: 'A `create` of a node that exists fails with `NodeExists`, and leaves the node as it is.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'old' })
          for (const op of ['create', 'create2'] as const) t.see(t.error(await a.create('/a', { data: 'new', op })))
          t.see(t.data(await a.getData('/a')))
        },
        expect: ['NodeExists', 'NodeExists', "'old'"],
      },
    },
    {
      number: 8,
      text: 'A `create` whose parent is missing fails with `NoNode`. No parent is made.',
      source: 'PrepRequestProcessor.getRecordForPath',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.create('/a/b')))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['NoNode', 'NoNode'],
      },
    },
    {
      number: 9,
      text: 'Flags that mean nothing fail with `BadArguments`, in each kind of create. No node is made.',
      source: 'CreateMode.fromFlag',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const op of ops) {
            const replies = [-1, 7, 8, 100, 2 ** 31 - 1, -(2 ** 31)].map((flags) => a.create('/a', { flags, op }))
            t.see(op, ...(await Promise.all(replies)).map((reply) => t.error(reply)))
          }
          t.see(t.children(await a.getChildren('/')))
        },
        expect: [
          ...ops.map((op) => `${op} BadArguments BadArguments BadArguments BadArguments BadArguments BadArguments`),
          '[]',
        ],
      },
    },
    {
      number: 10,
      text: 'A name that was deleted can be created again. The node begins anew: with version 0, a new czxid, and no children.',
      source: 'DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const before = t.statOf(await a.setData('/a', 'x'))
          await a.create('/a/b')
          await a.delete('/a/b')
          await a.delete('/a')
          await a.create('/a')
          const reply = await a.exists('/a')
          t.see(t.stat(reply, 'version', 'cversion'), (t.statOf(reply)?.czxid ?? 0n) > (before?.czxid ?? 0n))
        },
        expect: ['version 0 cversion 0 true'],
      },
    },
    {
      number: 11,
      text: 'When a create is answered, every session at the same server sees the node.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          for (let i = 0; i < 5; i++) {
            await a.create(`/${i}`)
            t.see(t.error(await b.exists(`/${i}`)))
          }
        },
        expect: ['Ok', 'Ok', 'Ok', 'Ok', 'Ok'],
      },
    },
    {
      number: 12,
      text: 'Requests that follow a create on the same connection, before it is answered, find the node.',
      source: 'PrepRequestProcessor.getRecordForPath: outstanding changes',
      follows: ['order/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const replies = [a.create('/a'), a.create('/a/b'), a.setData('/a', 'x'), a.getData('/a'), a.create('/a')]
          t.see(...(await Promise.all(replies)).map((reply) => t.error(reply)))
        },
        expect: ['Ok Ok Ok Ok NodeExists'],
      },
    },
    {
      number: 13,
      text: 'Two sessions that create the same node at once: one succeeds, and the other fails with `NodeExists`.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate: one thread prepares all writes',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          for (const path of ['/1', '/2', '/3']) {
            const replies = await Promise.all([a.create(path), b.create(path)])
            t.see(...replies.map((reply) => t.error(reply)).toSorted())
          }
        },
        expect: ['NodeExists Ok', 'NodeExists Ok', 'NodeExists Ok'],
      },
    },
    {
      number: 14,
      text: 'The root and `/zookeeper` exist on every server: to create them fails with `NodeExists`.',
      source: 'DataTree: constructor',
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          // The root may be protected by an ACL.
          t.see(['NodeExists', 'NoAuth'].includes(t.error(await a.create('/'))))
          t.see(['NodeExists', 'NoAuth'].includes(t.error(await a.create('/zookeeper'))))
        },
        expect: ['true', 'true'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'Flags are checked before everything else: invalid flags fail with `BadArguments` although the ACL is invalid and the parent is missing.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['create/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.create('/missing/a', { flags: 9, acl: [] })))
          t.see(t.error(await a.create(null, { flags: 9 })))
        },
        expect: ['BadArguments', 'BadArguments'],
      },
    },
    {
      number: 16,
      profile: 'full',
      text: 'A path without a slash fails with `BadArguments` before the ACL is checked.',
      source: 'PrepRequestProcessor.validatePathForCreate, fixupACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.create('a', { acl: [] })))
        },
        expect: ['BadArguments'],
      },
    },
    {
      number: 17,
      profile: 'full',
      text: 'The ACL is checked before the parent and the node: an empty one fails with `InvalidACL`.',
      source: 'PrepRequestProcessor.fixupACL',
      follows: ['acl/19'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/missing/b', '/a']) t.see(path, t.error(await a.create(path, { acl: [] })))
        },
        expect: ['/missing/b InvalidACL', '/a InvalidACL'],
      },
    },
    {
      number: 18,
      profile: 'full',
      text: 'The permission on the parent is checked before the node: `NoAuth` does not tell whether the node exists.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['acl/5', 'acl/32'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await a.create('/p/here')
          await a.setACL('/p', readOnly)
          for (const path of ['/p/here', '/p/new']) t.see(path, t.error(await a.create(path)))
        },
        expect: ['/p/here NoAuth', '/p/new NoAuth'],
      },
    },
    {
      number: 19,
      profile: 'full',
      text: 'The names in the path are checked after the ACL and the permission.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['paths/10', 'create/17', 'create/18'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p', { acl: readOnly })
          t.see('ACL', t.error(await a.create('/.', { acl: [] })))
          t.see('permission', t.error(await a.create('/p/.')))
        },
        expect: ['ACL InvalidACL', 'permission NoAuth'],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'Permission and names are checked before it matters that the parent is ephemeral.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['create/18', 'ephemeral/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/locked', { flags: CreateMode.EPHEMERAL, acl: readOnly })
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          t.see('permission', t.error(await a.create('/locked/a')))
          t.see('name', t.error(await a.create('/e/.')))
        },
        expect: ['permission NoAuth', 'name BadArguments'],
      },
    },
    {
      number: 21,
      text: 'A failed `create` changes nothing: neither the list of children, nor `cversion` and `pzxid` of the parent.',
      source: 'PrepRequestProcessor.pRequest: a failure becomes an error transaction',
      follows: ['create/9', 'reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await a.create('/p/here')
          const before = t.statOf(await a.exists('/p'))
          await a.create('/p/here')
          await a.create('/p/new', { acl: [] })
          await a.create('/p/.')
          await a.create('/p/new', { flags: 9 })
          const after = t.statOf(await a.exists('/p'))
          t.see('cversion', after?.cversion === before?.cversion, 'pzxid', after?.pzxid === before?.pzxid)
          t.see(t.children(await a.getChildren('/p')))
        },
        expect: ['cversion true pzxid true', '[here]'],
      },
    },
  ],
}

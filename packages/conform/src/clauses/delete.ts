import { CreateMode, Perms } from '@zk/wire'
import type { Chapter } from './clause.ts'

/** With ADMIN, so that an ordinary user can delete the children afterwards. */
const readOnly = [{ perms: Perms.READ | Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } }]

export const deletion: Chapter = {
  name: 'delete',
  title: 'delete',
  introduction:
    'A `delete` has a path and the expected version of the data, or -1 for any version. Its reply has no body. A server checks in this ' +
    'order: the path has a slash and is no built-in node, the parent exists, the session has the permission `DELETE` on the parent, ' +
    'the node exists, its version is the expected one, it has no children.',
  clauses: [
    {
      number: 1,
      text: '`delete` removes the node, and with it its name from the list of the parent.',
      source: 'DataTree.deleteNode',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/b')
          t.see(t.error(await a.delete('/a')))
          t.see(t.error(await a.exists('/a')), t.children(await a.getChildren('/')))
        },
        expect: ['Ok', 'NoNode [b]'],
      },
    },
    {
      number: 2,
      text: 'A `delete` of a missing node fails with `NoNode`, whether its parent exists or not.',
      source: 'PrepRequestProcessor.getRecordForPath',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.delete('/a')), t.error(await a.delete('/missing/a')))
        },
        expect: ['NoNode NoNode'],
      },
    },
    {
      number: 3,
      text: 'If the version of the data is not the expected one, `delete` fails with `BadVersion`, and the node stays.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      follows: ['stat/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.setData('/a', 'x')
          for (const version of [0, 2]) t.see(version, t.error(await a.delete('/a', version)))
          t.see(t.error(await a.exists('/a')))
          t.see(1, t.error(await a.delete('/a', 1)))
        },
        expect: ['0 BadVersion', '2 BadVersion', 'Ok', '1 Ok'],
      },
    },
    {
      number: 4,
      text: 'The expected version -1 matches every version.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.setData('/a', 'x')
          t.see(t.error(await a.delete('/a', -1)))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: 'Other negative versions match none: they fail with `BadVersion`.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      follows: ['delete/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const version of [-2, -(2 ** 31)]) t.see(version, t.error(await a.delete('/a', version)))
        },
        expect: ['-2 BadVersion', '-2147483648 BadVersion'],
      },
    },
    {
      number: 6,
      text: 'Only the version of the data is compared, neither that of the children nor that of the ACL.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.setACL('/a', [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }])
          await a.create('/a/b')
          await a.delete('/a/b')
          t.see(t.error(await a.delete('/a', 0)))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 7,
      text: 'A node with children is not deleted: `NotEmpty`.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          t.see(t.error(await a.delete('/a')))
          t.see(t.error(await a.exists('/a/b')))
          await a.delete('/a/b')
          t.see(t.error(await a.delete('/a')))
        },
        expect: ['NotEmpty', 'Ok', 'Ok'],
      },
    },
    {
      number: 8,
      text: 'An ephemeral child counts as a child: its parent is not deleted.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['delete/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/a')
          await b.create('/a/e', { flags: CreateMode.EPHEMERAL })
          t.see(t.error(await a.delete('/a')))
        },
        expect: ['NotEmpty'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: 'The version is checked before the children.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['delete/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          t.see(t.error(await a.delete('/a', 7)))
        },
        expect: ['BadVersion'],
      },
    },
    {
      number: 10,
      profile: 'full',
      text: 'The permission on the parent is checked before the version and the children.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['acl/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await a.create('/p/a')
          await a.create('/p/a/b')
          await a.setACL('/p', readOnly)
          t.see(t.error(await a.delete('/p/a', 7)), t.error(await a.delete('/p/a')))
        },
        expect: ['NoAuth NoAuth'],
      },
    },
    {
      number: 11,
      profile: 'full',
      text: 'The permission on the parent is checked before the node: `NoAuth` does not tell whether the node exists.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['delete/10', 'acl/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p', { acl: readOnly })
          t.see(t.error(await a.delete('/p/missing')))
        },
        expect: ['NoAuth'],
        differs: [
          { what: 'The node is looked up before the permission is checked.', before: '3.6', expect: ['NoNode'] },
        ],
      },
    },
    {
      number: 12,
      text: 'The root, `/zookeeper`, `/zookeeper/quota` and `/zookeeper/config` are never deleted: `BadArguments`, whatever the version.',
      source: 'PrepRequestProcessor.getParentPathAndValidate, DataTree.isSpecialPath',
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          // A version that no node has, for servers that would delete them.
          for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
            t.see(path, t.error(await a.delete(path, 2 ** 31 - 1)))
          }
        },
        expect: ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'].map((path) => `${path} BadArguments`),
      },
    },
    {
      number: 13,
      text: 'A failed `delete` changes nothing: neither `cversion` nor `pzxid` of the parent.',
      source: 'PrepRequestProcessor.pRequest: a failure becomes an error transaction',
      follows: ['delete/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await a.create('/p/a')
          const before = t.statOf(await a.exists('/p'))
          await a.delete('/p/a', 7)
          await a.delete('/p/missing')
          const after = t.statOf(await a.exists('/p'))
          t.see('cversion', after?.cversion === before?.cversion, 'pzxid', after?.pzxid === before?.pzxid)
        },
        expect: ['cversion true pzxid true'],
      },
    },
    {
      number: 14,
      text: 'Requests that follow a delete on the same connection, before it is answered, no longer find the node.',
      source: 'PrepRequestProcessor.getRecordForPath: outstanding changes',
      follows: ['delete/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const replies = [a.delete('/a'), a.delete('/a/b'), a.delete('/a'), a.exists('/a'), a.delete('/a')]
          t.see(...(await Promise.all(replies)).map((reply) => t.error(reply)))
        },
        expect: ['NotEmpty Ok Ok NoNode NoNode'],
      },
    },
    {
      number: 15,
      text: 'Two sessions that delete the same node at once: one succeeds, and the other fails with `NoNode`.',
      source: 'PrepRequestProcessor.pRequest2Txn: one thread prepares all writes',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          for (const path of ['/1', '/2', '/3']) {
            await a.create(path)
            const replies = await Promise.all([a.delete(path), b.delete(path)])
            t.see(...replies.map((reply) => t.error(reply)).toSorted())
          }
        },
        expect: ['NoNode Ok', 'NoNode Ok', 'NoNode Ok'],
      },
    },
  ],
}

import { CreateMode, Perms } from '@zk/wire'
import type { Chapter } from './clause.ts'

const readOnly = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

export const setData: Chapter = {
  name: 'set-data',
  title: 'setData',
  introduction:
    'A `setData` has a path, the new data, and the expected version of the old data, or -1 for any version. It is answered with the Stat ' +
    'of the node after the change. A server checks in this order: the whole path, the node, the permission `WRITE` on it, quota, version.',
  clauses: [
    {
      number: 1,
      text: '`setData` replaces the data as a whole, whether the new data is longer or shorter.',
      source: 'DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'old' })
          for (const data of ['longer', 'x']) {
            await a.setData('/a', data)
            t.see(t.data(await a.getData('/a')))
          }
        },
        expect: ["'longer'", "'x'"],
      },
    },
    {
      number: 2,
      text: 'The reply has the Stat of the node after the change: the next expected version, and the new length.',
      source: 'FinalRequestProcessor.processRequest, DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'old' })
          t.see(t.stat(await a.setData('/a', 'longer'), 'version', 'dataLength'))
          t.see(t.stat(await a.setData('/a', 'x'), 'version', 'dataLength'))
        },
        expect: ['version 1 dataLength 6', 'version 2 dataLength 1'],
      },
    },
    {
      number: 3,
      text: 'If the version is not the expected one, `setData` fails with `BadVersion`, and the data stays.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      follows: ['stat/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.setData('/a', 'kept')
          for (const version of [0, 2]) t.see(version, t.error(await a.setData('/a', 'never', version)))
          t.see(t.data(await a.getData('/a')))
          t.see(1, t.error(await a.setData('/a', 'new', 1)))
        },
        expect: ['0 BadVersion', '2 BadVersion', "'kept'", '1 Ok'],
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
          t.see(t.error(await a.setData('/a', '1', -1)), t.error(await a.setData('/a', '2', -1)))
        },
        expect: ['Ok Ok'],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: 'Other negative versions match none: they fail with `BadVersion`.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      follows: ['set-data/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const version of [-2, -(2 ** 31)]) t.see(version, t.error(await a.setData('/a', 'x', version)))
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
          t.see(t.error(await a.setData('/a', 'x', 0)))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 7,
      text: 'Empty data is stored as empty, not as null.',
      source: 'DataTree.setData',
      follows: ['create/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'x' })
          await a.setData('/a', '')
          t.see(t.data(await a.getData('/a')))
        },
        expect: ["''"],
      },
    },
    {
      number: 8,
      text: 'Null data is stored as null, not as empty.',
      source: 'DataTree.setData',
      follows: ['create/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'x' })
          await a.setData('/a', null)
          t.see(t.data(await a.getData('/a')))
        },
        expect: ['null'],
      },
    },
    {
      number: 9,
      text: '`setData` of a missing node fails with `NoNode`, whatever the version.',
      source: 'PrepRequestProcessor.getRecordForPath',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.setData('/a', 'x')), t.error(await a.setData('/a', 'x', 7)))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['NoNode NoNode', 'NoNode'],
      },
    },
    {
      number: 10,
      profile: 'full',
      text: 'The permission is checked before the version.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['acl/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: readOnly })
          t.see(t.error(await a.setData('/a', 'x', 7)))
        },
        expect: ['NoAuth'],
      },
    },
    {
      number: 11,
      text: 'Two sessions that set data with the same expected version at once: one succeeds, and the other fails with `BadVersion`.',
      source: 'PrepRequestProcessor.checkAndIncVersion: one thread prepares all writes',
      follows: ['set-data/3', 'stat/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/a')
          for (const version of [0, 1, 2]) {
            const replies = await Promise.all([a.setData('/a', 'a', version), b.setData('/a', 'b', version)])
            t.see(...replies.map((reply) => t.error(reply)).toSorted())
          }
        },
        expect: ['BadVersion Ok', 'BadVersion Ok', 'BadVersion Ok'],
      },
    },
    {
      number: 12,
      text: 'Expected versions are compared with what earlier requests will have done, before these are answered.',
      source: 'PrepRequestProcessor.getRecordForPath: outstanding changes',
      follows: ['set-data/3', 'stat/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const replies = [0, 1, 1, 2].map((version) => a.setData('/a', `${version}`, version))
          t.see(...(await Promise.all(replies)).map((reply) => t.error(reply)))
        },
        expect: ['Ok Ok BadVersion Ok'],
      },
    },
    {
      number: 13,
      text: 'A node with children has data like any other: `setData` leaves its children alone.',
      source: 'DataTree.setData',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b', { flags: CreateMode.PERSISTENT })
          await a.setData('/a', 'x')
          t.see(t.data(await a.getData('/a')), t.children(await a.getChildren('/a')))
        },
        expect: ["'x' [b]"],
      },
    },
    {
      number: 14,
      level: 'SHOULD',
      profile: 'full',
      text: 'After 2147483647 the version continues at -2147483648. It reaches -1, which as an expected version means any version; a server later than 3.9 skips -1.',
      source: 'PrepRequestProcessor.checkAndIncVersion, ZOOKEEPER-4743',
      check: { unchecked: 'It takes 2147483647 writes to one node.' },
    },
  ],
}

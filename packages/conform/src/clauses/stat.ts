import { CreateMode, type Stat } from '@zk/wire'
import { open } from '../play/index.ts'
import type { Chapter } from './clause.ts'

export const stat: Chapter = {
  name: 'stat',
  title: 'The fields of a Stat',
  introduction:
    'A Stat describes a node: three zxids, two times, three versions, the owner, the length of the data and the number of children. ' +
    'A change of the data moves `mzxid`, `mtime` and `version`; a change of the list of children moves `pzxid` and `cversion`; ' +
    'a change of the ACL moves `aversion`. Nothing else moves any of them.',
  clauses: [
    {
      number: 1,
      text: '`czxid` is the zxid of the transaction that created the node; `mzxid` and `pzxid` begin with the same value.',
      source: 'DataTree.createStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          const before = t.statOf(await a.create('/before', { op: 'create2' }))
          await a.create('/a')
          const { czxid, mzxid, pzxid } = t.statOf(await a.exists('/a')) ?? NONE
          const after = t.statOf(await a.create('/after', { op: 'create2' }))
          t.see('mzxid', mzxid === czxid, 'pzxid', pzxid === czxid)
          t.see(
            'between its neighbours',
            before !== undefined && after !== undefined && before.czxid < czxid && czxid < after.czxid,
          )
        },
        expect: ['mzxid true pzxid true', 'between its neighbours true'],
      },
    },
    {
      number: 2,
      text: '`czxid` and `ctime` never change.',
      source: 'DataTree.setData, setACL, createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const before = t.statOf(await a.exists('/a'))
          await t.sleep(TICK)
          await a.setData('/a', 'x')
          await a.setACL('/a', open)
          await a.create('/a/b')
          t.see(changed(before, t.statOf(await a.exists('/a')), 'czxid', 'ctime'))
        },
        expect: ['none'],
      },
    },
    {
      number: 3,
      text: '`mzxid` is the zxid of the last change of the data. Each `setData` raises it.',
      source: 'DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          const created = t.statOf(await a.create('/a', { op: 'create2' }))
          const first = t.statOf(await a.setData('/a', '1'))
          const between = t.statOf(await a.create('/b', { op: 'create2' }))
          const second = t.statOf(await a.setData('/a', '2'))
          const zxids = [created?.czxid, first?.mzxid, between?.czxid, second?.mzxid].map((zxid) => zxid ?? 0n)
          t.see(zxids.every((zxid, index) => index === 0 || zxid > zxids[index - 1]!))
        },
        expect: ['true'],
      },
    },
    {
      number: 4,
      text: 'Changes of the children or of the ACL move neither `mzxid` nor `mtime` nor `version`.',
      source: 'DataTree.createNode, deleteNode, setACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const before = t.statOf(await a.exists('/a'))
          await t.sleep(TICK)
          await a.create('/a/b')
          await a.delete('/a/b')
          await a.setACL('/a', open)
          t.see(changed(before, t.statOf(await a.exists('/a')), 'mzxid', 'mtime', 'version'))
        },
        expect: ['none'],
      },
    },
    {
      number: 5,
      text: '`ctime` is the time of the create by the clock of the leader, in milliseconds since 1970; `mtime` begins with the same value.',
      source: 'PrepRequestProcessor.pRequest2Txn, DataTree.createStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const { ctime, mtime } = t.statOf(await a.exists('/a')) ?? NONE
          const now = t.scenario.stage.runtime.wallNow()
          t.see('mtime', mtime === ctime, 'within a day', Math.abs(Number(ctime) - now) < 86_400_000)
        },
        expect: ['mtime true within a day true'],
      },
    },
    {
      number: 6,
      text: '`version` begins at 0. Each `setData` raises it by 1, also one with the same data.',
      source: 'PrepRequestProcessor.checkAndIncVersion',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'x' })
          t.see(t.stat(await a.exists('/a'), 'version'))
          for (const data of ['y', 'y', null]) {
            await a.setData('/a', data)
            t.see(t.stat(await a.exists('/a'), 'version'))
          }
        },
        expect: ['version 0', 'version 1', 'version 2', 'version 3'],
      },
    },
    {
      number: 7,
      text: '`mtime` is the time of the last `setData`.',
      source: 'DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await t.sleep(TICK)
          const { ctime, mtime } = t.statOf(await a.setData('/a', 'x')) ?? NONE
          t.see(mtime > ctime)
        },
        expect: ['true'],
      },
    },
    {
      number: 8,
      text: 'A change of the data moves neither `pzxid` nor `cversion` nor `aversion`.',
      source: 'DataTree.setData',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const before = t.statOf(await a.exists('/a'))
          await a.setData('/a', 'x')
          t.see(changed(before, t.statOf(await a.exists('/a')), 'pzxid', 'cversion', 'aversion'))
        },
        expect: ['none'],
      },
    },
    {
      number: 9,
      text: '`cversion` begins at 0. Each create of a child raises it by 1.',
      source: 'DataNode.copyStat, DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.stat(await a.exists('/a'), 'cversion'))
          for (const flags of [CreateMode.PERSISTENT, CreateMode.EPHEMERAL_SEQUENTIAL]) {
            await a.create('/a/b', { flags })
            t.see(t.stat(await a.exists('/a'), 'cversion'))
          }
        },
        expect: ['cversion 0', 'cversion 1', 'cversion 2'],
      },
    },
    {
      number: 10,
      text: 'Each delete of a child raises `cversion` by 1, too.',
      source: 'DataNode.copyStat',
      follows: ['stat/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const before = t.statOf(await a.exists('/a')) ?? NONE
          await a.delete('/a/b')
          const after = t.statOf(await a.exists('/a')) ?? NONE
          t.see(after.cversion - before.cversion)
        },
        expect: ['1'],
      },
    },
    {
      number: 11,
      text: 'A create of a child moves `pzxid` of the parent to its own zxid.',
      source: 'DataTree.createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const child = t.statOf(await a.exists('/a/b')) ?? NONE
          const { czxid, pzxid } = t.statOf(await a.exists('/a')) ?? NONE
          t.see('that of the child', pzxid === child.czxid, 'later than its own', pzxid > czxid)
        },
        expect: ['that of the child true later than its own true'],
      },
    },
    {
      number: 12,
      text: 'A delete of a child moves `pzxid` of the parent to its own zxid.',
      source: 'DataTree.deleteNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const before = t.statOf(await a.create('/before', { op: 'create2' })) ?? NONE
          await a.delete('/a/b')
          const after = t.statOf(await a.create('/after', { op: 'create2' })) ?? NONE
          const { pzxid } = t.statOf(await a.exists('/a')) ?? NONE
          t.see(before.czxid < pzxid && pzxid < after.czxid)
        },
        expect: ['true'],
      },
    },
    {
      number: 13,
      text: 'A change in a child moves no field of the parent: neither its data, nor its ACL, nor its own children.',
      source: 'DataTree.setData, setACL, createNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          const before = t.statOf(await a.exists('/a'))
          await a.setData('/a/b', 'x')
          await a.setACL('/a/b', open)
          await a.create('/a/b/c')
          t.see(changed(before, t.statOf(await a.exists('/a'))))
        },
        expect: ['none'],
      },
    },
    {
      number: 14,
      text: '`aversion` begins at 0, and each `setACL` raises it by 1, also one with the same ACL.',
      source: 'PrepRequestProcessor.checkAndIncVersion, DataTree.setACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.stat(await a.exists('/a'), 'aversion'))
          for (let i = 0; i < 2; i++) {
            await a.setACL('/a', open)
            t.see(t.stat(await a.exists('/a'), 'aversion'))
          }
        },
        expect: ['aversion 0', 'aversion 1', 'aversion 2'],
      },
    },
    {
      number: 15,
      text: '`setACL` moves no other field, neither `pzxid` nor `cversion`.',
      source: 'DataTree.setACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const before = t.statOf(await a.exists('/a'))
          await t.sleep(TICK)
          await a.setACL('/a', open)
          t.see(changed(before, t.statOf(await a.exists('/a')), 'pzxid', 'cversion', 'dataLength', 'numChildren'))
        },
        expect: ['none'],
      },
    },
    {
      number: 16,
      text: '`ephemeralOwner` is the id of the session that created an ephemeral node, and 0 for a persistent node.',
      source: 'DataNode.copyStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          await a.create('/p')
          const owner = t.statOf(await b.exists('/e'))?.ephemeralOwner
          t.see('ephemeral', owner === a.sessionId, t.stat(await b.exists('/p'), 'ephemeralOwner'))
        },
        expect: ['ephemeral true ephemeralOwner 0'],
      },
    },
    {
      number: 17,
      text: '`dataLength` is the number of bytes of the data; 0 if the data is empty.',
      source: 'DataNode.copyStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: '\u00E4\u65E5' })
          t.see(t.stat(await a.exists('/a'), 'dataLength'))
          await a.setData('/a', new Uint8Array(1_000))
          t.see(t.stat(await a.exists('/a'), 'dataLength'))
          await a.setData('/a', '')
          t.see(t.stat(await a.exists('/a'), 'dataLength'))
        },
        expect: ['dataLength 5', 'dataLength 1000', 'dataLength 0'],
      },
    },
    {
      number: 18,
      text: '`dataLength` of null data is 0, not -1.',
      source: 'DataNode.copyStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: null })
          t.see(t.stat(await a.exists('/a'), 'dataLength'))
        },
        expect: ['dataLength 0'],
      },
    },
    {
      number: 19,
      text: '`numChildren` is the number of children, without their children.',
      source: 'DataNode.copyStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/a/b', '/a/b/deeper', '/a/c']) await a.create(path)
          t.see(t.stat(await a.exists('/a'), 'numChildren'))
          await a.delete('/a/c')
          t.see(t.stat(await a.exists('/a'), 'numChildren'))
        },
        expect: ['numChildren 2', 'numChildren 1'],
      },
    },
    {
      number: 20,
      text: 'All replies have the same Stat of a node: those of `exists`, `getData`, `getChildren2` and `getACL`.',
      source: 'DataNode.copyStat',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'x' })
          await a.create('/a/b')
          await a.setData('/a', 'yy')
          await a.setACL('/a', open)
          const exists = t.statOf(await a.exists('/a'))
          t.see('getData', changed(exists, t.statOf(await a.getData('/a'))))
          t.see('getChildren2', changed(exists, t.statOf(await a.getChildren2('/a'))))
          t.see('getACL', changed(exists, t.statOf(await a.getACL('/a'))))
        },
        expect: ['getData none', 'getChildren2 none', 'getACL none'],
      },
    },
    {
      number: 21,
      level: 'MAY',
      profile: 'full',
      text: 'The nodes `/zookeeper` and `/zookeeper/quota` were never created: their `czxid` and `ctime` are 0. Nor are the children of `/zookeeper` counted as created, so its `cversion` is -2.',
      source: 'DataTree: constructor; DataNode.copyStat',
      follows: ['stat/10'],
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          t.see(t.stat(await a.exists('/zookeeper'), 'czxid', 'ctime', 'cversion'))
          t.see(t.stat(await a.exists('/zookeeper/quota'), 'czxid', 'ctime'))
        },
        expect: ['czxid 0 ctime 0 cversion -2', 'czxid 0 ctime 0'],
      },
    },
  ],
}

/** Longer than the resolution of the clocks of servers, in ms. */
const TICK = 30

const NONE: Stat = {
  czxid: 0n,
  mzxid: 0n,
  ctime: 0n,
  mtime: 0n,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
  pzxid: 0n,
}

const FIELDS = Object.keys(NONE) as (keyof Stat)[]

/** The names of these fields, by default of all, that differ: `mzxid version`; `none`, or `missing` if there is no Stat. */
function changed(before: Stat | undefined, after: Stat | undefined, ...fields: readonly (keyof Stat)[]): string {
  if (before === undefined || after === undefined) return 'missing'
  const names = (fields.length === 0 ? FIELDS : fields).filter((name) => before[name] !== after[name])
  return names.join(' ') || 'none'
}

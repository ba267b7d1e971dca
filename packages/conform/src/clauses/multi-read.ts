import { OpCode, Perms } from '@zk/wire'
import { mistypedMulti, ops } from '../play/index.ts'
import { everyoneBut } from './acls.ts'
import type { Chapter } from './clause.ts'

const since = '3.6'

export const multiRead: Chapter = {
  name: 'multi-read',
  title: 'Several reads in one request',
  introduction:
    'A multiRead (opcode 22) is a list of `getData` and `getChildren`, in the form of a multi. Its parts succeed or fail ' +
    'independently of each other. It came with 3.6 (ZOOKEEPER-1962); servers before that answer Unimplemented.',
  clauses: [
    {
      number: 1,
      since,
      profile: 'full',
      text: 'The reply has one result for each part, in the same order: data and Stat for `getData`.',
      source: 'FinalRequestProcessor, GetDataResult',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'x' })
          await a.create('/b', { data: 'xyz' })
          const reply = await a.call('multiRead', [ops.getData('/b'), ops.getData('/a')])
          t.see(t.results(reply))
          for (const { dataLength } of t.resultStats(reply)) t.see('dataLength', dataLength)
        },
        expect: ['Ok [getData, getData]', 'dataLength 3', 'dataLength 1'],
      },
    },
    {
      number: 2,
      since,
      profile: 'full',
      text: 'The result of `getChildren` has the names of the children, without a Stat.',
      source: 'FinalRequestProcessor, GetChildrenResult',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          t.see(t.results(await a.call('multiRead', [ops.getChildren('/a')])))
          t.see(t.lastBody(a))
        },
        expect: ['Ok [getChildren]', ['000000080000000000', '00000001', '0000000162', 'ffffffff01ffffffff'].join('')],
      },
    },
    {
      number: 3,
      since,
      profile: 'full',
      text: 'If a part fails, only its own result is an error. The error in the header of the reply is Ok.',
      source: 'FinalRequestProcessor',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const parts = [ops.getData('/none'), ops.getData('/a'), ops.getChildren('/none'), ops.getChildren('/a')]
          t.see(t.results(await a.call('multiRead', parts)))
        },
        expect: ['Ok [error NoNode, getData, error NoNode, getChildren]'],
      },
    },
    {
      number: 4,
      since,
      profile: 'full',
      text: 'Each part needs READ on its node.',
      source: 'FinalRequestProcessor.handleGetDataRequest, handleGetChildrenRequest',
      follows: ['multi-read/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/closed', { data: 'secret', acl: everyoneBut(Perms.READ) })
          const parts = [ops.getData('/closed'), ops.getChildren('/closed'), ops.getData('/a')]
          t.see(t.results(await a.call('multiRead', parts)))
        },
        expect: ['Ok [error NoAuth, error NoAuth, getData]'],
      },
    },
    {
      number: 5,
      since,
      profile: 'full',
      text: 'A multiRead without parts is answered with an empty list.',
      source: 'FinalRequestProcessor',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.call('multiRead', [])))
        },
        expect: ['Ok []'],
      },
    },
    {
      number: 6,
      since,
      profile: 'full',
      text: 'A multiRead waits for the writes that its session has sent before it, and sees what they have written.',
      source: 'CommitProcessor',
      check: {
        play: async (t) => {
          const a = await t.open()
          const [, first, , second] = await Promise.all([
            a.create('/a', { data: 'x' }),
            a.call('multiRead', [ops.getData('/a')]),
            a.setData('/a', 'xyz'),
            a.call('multiRead', [ops.getData('/a')]),
          ])
          for (const { dataLength } of [first, second].flatMap((reply) => t.resultStats(reply))) t.see(dataLength)
        },
        expect: ['1', '3'],
      },
    },
    {
      number: 7,
      since,
      profile: 'full',
      text: 'Writes cannot be parts of a multiRead: it fails as a whole, with MarshallingError, and nothing is written.',
      source: 'MultiOperationRecord.setOrCheckOpKind, FinalRequestProcessor',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.error(await a.call('multiRead', [ops.getData('/a'), ops.delete('/a')])))
          t.see(t.error(await a.call('multiRead', [ops.delete('/a')])))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['MarshallingError', 'MarshallingError', 'Ok'],
      },
    },
    {
      number: 8,
      since,
      profile: 'full',
      text: 'Other reads, such as `exists`, cannot be parts either: MarshallingError.',
      source: 'MultiOperationRecord.deserialize',
      follows: ['frames-nobody-sends/13'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const body = mistypedMulti(OpCode.exists, ops.getData(a.pathBelow('/a')))
          t.see(t.error(await a.callRaw(OpCode.multiRead, body)))
        },
        expect: ['MarshallingError'],
      },
    },
    {
      number: 9,
      since,
      profile: 'full',
      level: 'SHOULD',
      text: 'Paths are not checked: for a path that no node can have, the result is NoNode.',
      source: 'FinalRequestProcessor.handleGetDataRequest',
      follows: ['multi-read/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.call('multiRead', [ops.getData('a'), ops.getData('/a//b'), ops.getChildren('/a/')])))
        },
        expect: ['Ok [error NoNode, error NoNode, error NoNode]'],
      },
    },
  ],
}

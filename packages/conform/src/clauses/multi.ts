import { CreateMode, OpCode, Perms } from '@zk/wire'
import { mistypedMulti, ops } from '../play/index.ts'
import { entry, everyone, everyoneBut, tom } from './acls.ts'
import type { Chapter } from './clause.ts'

const { EPHEMERAL, PERSISTENT_SEQUENTIAL, CONTAINER } = CreateMode

export const multi: Chapter = {
  name: 'multi',
  title: 'Transactions',
  introduction:
    'A multi (opcode 14) is a list of writes that are all applied, or none of them. Its parts may be `create`, `create2`, ' +
    '`createContainer`, `createTTL`, `delete`, `setData` and `check`. Each part is a MultiHeader (type, done, err) and the ' +
    'request that an operation of this type has on its own; a MultiHeader with the type -1 and done = true ends the list. ' +
    'The reply has the same form, with one result for each part. A multi whose parts fail is not an error itself: the error ' +
    'in the header of the reply is Ok, and the results say what has failed. For the events of a multi see [watches](watches.md).',
  clauses: [
    {
      number: 1,
      text: 'A multi applies all its parts.',
      source: 'PrepRequestProcessor.pRequest, DataTree.processTxn; ZOOKEEPER-965',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/b')
          await a.multi(ops.setData('/a', 'x'), ops.delete('/b'), ops.create('/c'))
          t.see(t.data(await a.getData('/a')), t.children(await a.getChildren('/')))
        },
        expect: ["'x' [a, c]"],
      },
    },
    {
      number: 2,
      text: 'If one part fails, no part is applied.',
      source: 'PrepRequestProcessor.pRequest, DataTree.processTxn; ZOOKEEPER-965',
      follows: ['create/4', 'reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/b')
          await a.multi(
            ops.setData('/a', 'x'),
            ops.delete('/b'),
            ops.create('/c'),
            ops.check('/none'),
            ops.create('/d'),
          )
          t.see(t.data(await a.getData('/a')), t.children(await a.getChildren('/')))
        },
        expect: ["'' [a, b]"],
      },
    },
    {
      number: 3,
      text: 'Parts are applied in their order, and each sees the changes of those before it.',
      source: 'PrepRequestProcessor.getRecordForPath',
      follows: ['multi/1', 'multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.multi(
            ops.create('/a'),
            ops.create('/a/b'),
            ops.setData('/a/b', 'x', 0),
            ops.check('/a/b', 1),
            ops.delete('/a/b', 1),
            ops.delete('/a', 0),
          )
          t.see(t.results(reply))
        },
        expect: ['Ok [create /a, create /a/b, setData, check, delete, delete]'],
      },
    },
    {
      number: 4,
      text: 'All changes of a multi have the same zxid, which is that in the header of the reply.',
      source: 'PrepRequestProcessor.pRequest',
      follows: ['multi/1', 'stat/3', 'order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const reply = await a.multi(ops.setData('/a', 'x'), ops.create('/b'), ops.create('/c'))
          const zxids = [
            t.statOf(await a.exists('/a'))?.mzxid,
            t.statOf(await a.exists('/b'))?.czxid,
            t.statOf(await a.exists('/c'))?.czxid,
          ]
          t.see(...zxids.map((zxid) => zxid === reply?.zxid))
        },
        expect: ['true true true'],
      },
    },
    {
      number: 5,
      text:
        'The reply to a multi that was applied has one result for each part, of the type of this part and in the same order. ' +
        'The results of `delete` and `check` are empty.',
      source: 'FinalRequestProcessor, MultiResponse.serialize',
      follows: ['watches/32'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/b')
          t.see(t.results(await a.multi(ops.check('/a'), ops.delete('/a'), ops.setData('/b'), ops.create('/c'))))
        },
        expect: ['Ok [check, delete, setData, create /c]'],
      },
    },
    {
      number: 6,
      text:
        'The header of a result that is no error has the type of the part and the error 0. A header with the type -1, ' +
        'done = true and the error -1 ends the list.',
      source: 'MultiResponse.serialize',
      follows: ['multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.multi(ops.check('/a'), ops.delete('/a'))
          t.see(t.lastBody(a))
        },
        expect: [['0000000d0000000000', '000000020000000000', 'ffffffff01ffffffff'].join('')],
      },
    },
    {
      number: 7,
      text: 'The result of a sequential `create` is the path with the number. Two of them in one multi get different numbers.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['multi/5', 'sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          const next = ops.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL })
          t.see(t.results(await a.multi(next, next)))
        },
        expect: ['Ok [create /q/n-0000000000, create /q/n-0000000001]'],
      },
    },
    {
      number: 8,
      text: 'The result of `setData` has the Stat as this part has left it, even if a later part changes the node again.',
      source: 'DataTree.processTxn, FinalRequestProcessor',
      follows: ['multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const reply = await a.multi(ops.setData('/a', 'x'), ops.setData('/a', 'xyz'))
          for (const { version, dataLength } of t.resultStats(reply))
            t.see('version', version, 'dataLength', dataLength)
        },
        expect: ['version 1 dataLength 1', 'version 2 dataLength 3'],
      },
    },
    {
      number: 9,
      text: 'The result of `create2` has the path and the Stat.',
      source: 'MultiOperationRecord.deserialize, FinalRequestProcessor; ZOOKEEPER-4026',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.multi(ops.create2('/a'))
          t.see(t.results(reply))
          for (const { version, dataLength } of t.resultStats(reply))
            t.see('version', version, 'dataLength', dataLength)
        },
        expect: ['Ok [create2 /a]', 'version 0 dataLength 0'],
        differs: [
          {
            before: '3.7.2',
            what: 'It is a result of `create`, without a Stat.',
            expect: ['Ok [create /a]'],
          },
          {
            since: ['3.8.0'],
            before: '3.8.2',
            what: 'It is a result of `create`, without a Stat.',
            expect: ['Ok [create /a]'],
          },
        ],
      },
    },
    {
      number: 10,
      profile: 'full',
      text: 'The result of `createContainer` is one of `create2`, with a Stat.',
      source: 'FinalRequestProcessor, CreateResult',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.multi(ops.createContainer('/c'))
          t.see(t.results(reply), 'with', t.resultStats(reply).length, 'Stat')
        },
        expect: ['Ok [create2 /c] with 1 Stat'],
      },
    },
    {
      number: 11,
      profile: 'full',
      text: 'The flags of a `create` decide what it makes, not its type: with the flags of a container it is `createContainer`.',
      source: 'Op.create, MultiOperationRecord.deserialize',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(ops.create('/c', { flags: CONTAINER }))))
        },
        expect: ['Ok [create2 /c]'],
      },
    },
    {
      number: 12,
      profile: 'extended',
      text: 'The result of `createTTL` is one of `create2`, with a Stat.',
      source: 'FinalRequestProcessor, CreateResult',
      follows: ['ttl/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.multi(ops.createTTL('/t', 60_000n))
          t.see(t.results(reply), 'with', t.resultStats(reply).length, 'Stat')
        },
        expect: ['Ok [create2 /t] with 1 Stat'],
      },
    },
    {
      number: 13,
      text:
        'The reply to a multi with a part that fails has Ok in its header, and a list of results. Each result is an error, ' +
        'also those of parts that did not fail.',
      source: 'PrepRequestProcessor.pRequest, FinalRequestProcessor',
      follows: ['multi/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.multi(ops.create('/a'), ops.check('/none'), ops.create('/b'))
          t.see(t.error(reply))
          t.see(t.results(reply).replaceAll(/error \S+?(?=[,\]])/g, 'error'))
        },
        expect: ['Ok', 'Ok [error, error, error]'],
      },
    },
    {
      number: 14,
      text: 'In the results of a failed multi, the part that has failed has the error that it would have on its own.',
      source: 'PrepRequestProcessor.pRequest',
      follows: ['multi/13', 'multi/2', 'paths/4', 'delete/7', 'set-data/3', 'ephemeral/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          await a.create('/e', { flags: EPHEMERAL })
          for (const culprit of [
            ops.create('/a'),
            ops.create('/none/a'),
            ops.create('/e/a'),
            ops.create('x'),
            ops.delete('/none'),
            ops.delete('/a'),
            ops.setData('/a', '', 9),
          ]) {
            t.see(t.results(await a.multi(culprit)))
          }
        },
        expect: [
          'Ok [error NodeExists]',
          'Ok [error NoNode]',
          'Ok [error NoChildrenForEphemerals]',
          'Ok [error BadArguments]',
          'Ok [error NoNode]',
          'Ok [error NotEmpty]',
          'Ok [error BadVersion]',
        ],
      },
    },
    {
      number: 15,
      text: 'The parts before the failed one have the error Ok, although they were not applied.',
      source: 'DataTree.processTxn',
      follows: ['multi/13', 'multi/2', 'multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(ops.create('/a'), ops.setData('/a'), ops.check('/none'))))
        },
        expect: ['Ok [error Ok, error Ok, error NoNode]'],
      },
    },
    {
      number: 16,
      text:
        'The parts after the failed one have the error RuntimeInconsistency (-2), whatever their own would have been: ' +
        'they are not tried.',
      source: 'PrepRequestProcessor.pRequest',
      follows: ['multi/13', 'multi/2', 'multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(ops.check('/none'), ops.create('/a'), ops.delete('/none'))))
        },
        expect: ['Ok [error NoNode, error RuntimeInconsistency, error RuntimeInconsistency]'],
      },
    },
    {
      number: 17,
      text: 'An error is in the results twice: in the header, and in the int after it.',
      source: 'MultiResponse.serialize',
      follows: ['multi/13'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.multi(ops.check('/none'))
          t.see(t.lastBody(a))
        },
        expect: [['ffffffff00ffffff9b', 'ffffff9b', 'ffffffff01ffffffff'].join('')],
      },
    },
    {
      number: 18,
      text: 'A failed multi uses up no number of sequential nodes.',
      source: 'PrepRequestProcessor.rollbackPendingChanges; ZOOKEEPER-1624',
      follows: ['multi/2', 'sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          const next = ops.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL })
          await a.multi(next, next, ops.check('/none'))
          t.see(t.path(await a.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/q/n-0000000000'],
      },
    },
    {
      number: 19,
      text: 'A failed multi changes no Stat.',
      source: 'PrepRequestProcessor.rollbackPendingChanges',
      follows: ['multi/2', 'stat/9', 'stat/19'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b')
          await a.multi(ops.setData('/a', 'x'), ops.create('/a/c'), ops.delete('/a/b'), ops.check('/none'))
          const reply = await a.exists('/a')
          t.see(t.stat(reply, 'version', 'cversion', 'dataLength', 'numChildren'))
          t.see(t.statOf(reply)?.mzxid === t.statOf(reply)?.czxid)
        },
        expect: ['version 0 cversion 1 dataLength 0 numChildren 1', 'true'],
      },
    },
    {
      number: 20,
      text: 'A failed multi does not disturb requests that were sent before and after it without waiting for replies.',
      source: 'PrepRequestProcessor.rollbackPendingChanges; ZOOKEEPER-1624',
      follows: ['multi/2', 'sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const next = ops.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL })
          const [, first, , second, set, removed] = await Promise.all([
            a.create('/q'),
            a.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL }),
            a.multi(next, ops.setData('/q', 'lost'), ops.delete('/q/n-0000000000'), ops.check('/none')),
            a.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL }),
            a.setData('/q', 'kept', 0),
            a.delete('/q/n-0000000000', 0),
          ])
          t.see(t.path(first), t.path(second), t.stat(set, 'version'), t.error(removed))
        },
        expect: ['/q/n-0000000000 /q/n-0000000001 version 1 Ok'],
      },
    },
    {
      number: 21,
      text: 'A multi without parts is answered with an empty list.',
      source: 'MultiOperationRecord.deserialize',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi()))
        },
        expect: ['Ok []'],
      },
    },
    {
      number: 22,
      level: 'SHOULD',
      profile: 'full',
      text: 'A multi without parts is a transaction: its reply has a new zxid.',
      source: 'PrepRequestProcessor.pRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          const before = await a.multi()
          const after = await a.multi()
          t.see((after?.zxid ?? 0n) > (before?.zxid ?? 0n))
        },
        expect: ['true'],
      },
    },
    {
      number: 23,
      text:
        '`check` fails with NoNode if there is no such node, and with BadVersion if the version of its data is another one. ' +
        'Version -1 fits any.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['multi/13', 'stat/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.setData('/a')
          for (const check of [ops.check('/a', 1), ops.check('/a'), ops.check('/a', 0), ops.check('/none')]) {
            t.see(t.results(await a.multi(check)))
          }
        },
        expect: ['Ok [check]', 'Ok [check]', 'Ok [error BadVersion]', 'Ok [error NoNode]'],
      },
    },
    {
      number: 24,
      text: '`check` tries in this order: the path (BadArguments), the node (NoNode), the permission (NoAuth), the version.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['multi/23'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: everyoneBut(Perms.READ) })
          for (const check of [ops.check('/a/', 9), ops.check('/none', 9), ops.check('/a', 9)]) {
            t.see(t.results(await a.multi(check)))
          }
        },
        expect: ['Ok [error BadArguments]', 'Ok [error NoNode]', 'Ok [error NoAuth]'],
      },
    },
    {
      number: 25,
      text: '`check` changes nothing: neither version nor mzxid, and it triggers no watch.',
      source: 'DataTree.processTxn',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.getData('/a', true)
          await a.multi(ops.check('/a', 0))
          const reply = await a.exists('/a')
          t.see(t.stat(reply, 'version'), t.statOf(reply)?.mzxid === t.statOf(reply)?.czxid)
          t.see('events:', (await t.events(a)).join(', '))
        },
        expect: ['version 0 true', 'events: '],
      },
    },
    {
      number: 26,
      text: 'No other client sees a state between the parts of a multi.',
      source: 'CommitProcessor: no read is processed in parallel with a write',
      check: {
        unchecked:
          'A read between two parts would have to arrive at the right microsecond, so a check could only find it by chance.',
      },
    },
    {
      number: 27,
      text: 'Every part needs the permission that it needs on its own.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['multi/15', 'multi/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/open')
          await a.create('/closed', { acl: everyone(Perms.READ) })
          t.see(t.results(await a.multi(ops.setData('/open'), ops.setData('/closed'))))
          t.see(t.results(await a.multi(ops.setData('/open'), ops.create('/closed/x'))))
        },
        expect: ['Ok [error Ok, error NoAuth]', 'Ok [error Ok, error NoAuth]'],
      },
    },
    {
      number: 28,
      text: 'The ACL of a node that a multi creates applies to the later parts of the same multi.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['multi/27', 'multi/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const create = ops.create('/a', { acl: [entry(Perms.ALL, 'digest', tom.id)] })
          t.see(t.results(await a.multi(create, ops.setData('/a'))))
          t.see(t.results(await a.multi(create, ops.create('/a/b'))))
        },
        expect: ['Ok [error Ok, error NoAuth]', 'Ok [error Ok, error NoAuth]'],
      },
    },
    {
      number: 29,
      text: 'An ephemeral node that a multi creates belongs to its session, and may have no children in the same multi either.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['multi/2', 'multi/13', 'multi/15', 'multi/5', 'ephemeral/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const create = ops.create('/e', { flags: EPHEMERAL })
          t.see(t.results(await a.multi(create, ops.create('/e/a'))))
          await a.multi(create)
          t.see(t.statOf(await a.exists('/e'))?.ephemeralOwner === a.sessionId)
        },
        expect: ['Ok [error Ok, error NoChildrenForEphemerals]', 'true'],
      },
    },
    {
      number: 30,
      profile: 'full',
      text:
        'If a part has a type that cannot be in a multi, such as `setACL`, the multi as a whole fails with MarshallingError ' +
        'in the header of the reply, and nothing is applied.',
      source: 'MultiOperationRecord.deserialize',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/b')
          const parts = [ops.setData(a.pathBelow('/b'), 'x'), ops.create(a.pathBelow('/a'))]
          t.see(t.error(await a.callRaw(OpCode.multi, mistypedMulti(OpCode.setACL, ...parts))))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['MarshallingError', 'NoNode'],
      },
    },
    {
      number: 31,
      profile: 'full',
      text: 'Reads cannot be parts of a multi: it fails as a whole, with MarshallingError.',
      source: 'MultiOperationRecord.setOrCheckOpKind, PrepRequestProcessor.pRequest; ZOOKEEPER-1962',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.error(await a.multi(ops.create('/b'), ops.getData('/a'))))
          t.see(t.error(await a.exists('/b')))
        },
        expect: ['MarshallingError', 'NoNode'],
      },
    },
    {
      number: 32,
      profile: 'full',
      text: 'If the flags of a `create` are invalid, the multi as a whole fails with MarshallingError.',
      source: 'MultiOperationRecord.deserialize; ZOOKEEPER-4026',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(ops.create('/a'), ops.create('/b', { flags: 77 }))))
        },
        expect: ['MarshallingError'],
        differs: [
          {
            before: '3.7.2',
            what: 'Only this part fails, with BadArguments.',
            expect: ['Ok [error Ok, error BadArguments]'],
          },
          {
            since: ['3.8.0'],
            before: '3.8.2',
            what: 'Only this part fails, with BadArguments.',
            expect: ['Ok [error Ok, error BadArguments]'],
          },
        ],
      },
    },
    {
      number: 33,
      profile: 'full',
      level: 'SHOULD',
      text:
        'A multi that ends too early fails with MarshallingError. This may stop an ensemble: some releases turn it into a ' +
        'transaction that the followers do not know.',
      source: 'PrepRequestProcessor.pRequest, ByteBufferInputStream.byteBuffer2Record',
      needs: ['hostile'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.callCut('multi', [ops.create('/a'), ops.create('/b')], 20)))
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['MarshallingError', 'NoNode'],
      },
    },
    {
      number: 34,
      profile: 'full',
      level: 'SHOULD',
      text: 'A `create` with null in place of an ACL makes the multi as a whole fail with MarshallingError. This may stop an ensemble.',
      source: 'MultiOperationRecord.deserialize, PrepRequestProcessor.fixupACL; ZOOKEEPER-4026',
      needs: ['hostile'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(ops.create('/a', { acl: null }))))
        },
        expect: ['MarshallingError'],
        differs: [
          {
            since: ['3.6.0'],
            before: '3.7.2',
            what: 'The part fails with InvalidACL.',
            expect: ['Ok [error InvalidACL]'],
          },
          {
            since: ['3.8.0'],
            before: '3.8.2',
            what: 'The part fails with InvalidACL.',
            expect: ['Ok [error InvalidACL]'],
          },
        ],
      },
    },
  ],
}

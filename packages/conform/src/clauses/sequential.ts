import { CreateMode, OpCode, Perms } from '@zk/wire'
import { open, type Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL } = CreateMode
const readOnly = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

export const sequential: Chapter = {
  name: 'sequential',
  title: 'Sequential nodes',
  introduction:
    'The flags 2 and 3 append a number to the path of a create. The number is that of the children that were ever created in the parent, ' +
    'of any kind and under any name, so in one parent it only grows. It takes part in all checks that come after it: the names in the ' +
    'path, and the existing node.',
  clauses: [
    {
      number: 1,
      text: 'The number has ten digits, with zeros before it, and is appended to the path of the request.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.children(await a.getChildren('/')))
        },
        expect: ['/n-0000000000', '[n-0000000000]'],
      },
    },
    {
      number: 2,
      text: '`create2` of a sequential node is answered with the whole path, too.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL, op: 'create2' })))
        },
        expect: ['/n-0000000000'],
      },
    },
    {
      number: 3,
      text: 'Flags 2 make a persistent node, and flags 3 an ephemeral one of the session.',
      source: 'CreateMode.fromFlag',
      follows: ['sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const persistent = t.path(await a.create('/p', { flags: PERSISTENT_SEQUENTIAL }))
          const ephemeral = t.path(await a.create('/e', { flags: EPHEMERAL_SEQUENTIAL }))
          const owner = t.statOf(await a.exists(ephemeral))?.ephemeralOwner
          t.see(t.stat(await a.exists(persistent), 'ephemeralOwner'), owner === a.sessionId)
        },
        expect: ['ephemeralOwner 0 true'],
      },
    },
    {
      number: 4,
      text: 'One counter serves all sequential children of a parent, persistent and ephemeral ones, under any name.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['stat/9', 'sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.path(await a.create('/n-', { flags: EPHEMERAL_SEQUENTIAL })))
          t.see(t.path(await a.create('/other-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/n-0000000000', '/n-0000000001', '/other-0000000002'],
      },
    },
    {
      number: 5,
      text: 'Children that are not sequential count, too.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate: the counter is the stored cversion of the parent',
      follows: ['sequential/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { flags: PERSISTENT })
          await a.create('/b', { flags: EPHEMERAL })
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/n-0000000002'],
      },
    },
    {
      number: 6,
      text: 'A delete of a child does not change the counter: no number is given twice, and none is left out.',
      source: 'DataNode.copyStat: deletes are not stored',
      follows: ['sequential/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })
          await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })
          await a.delete('/n-0000000001')
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
          await a.delete('/n-0000000000')
          await a.delete('/n-0000000002')
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/n-0000000002', '/n-0000000003'],
      },
    },
    {
      number: 7,
      text: 'A failed create uses up no number.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['sequential/4', 'acl/19'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })
          await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL, acl: [] })
          await a.create('/n-\u0001', { flags: PERSISTENT_SEQUENTIAL })
          await a.create('/n-0000000000')
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/n-0000000001'],
      },
    },
    {
      number: 8,
      text: 'A create that fails while later ones are already sent uses up no number, either.',
      source: 'PrepRequestProcessor.addChangeRecord',
      follows: ['sequential/7', 'acl/19'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const replies = [open, [], open, [], open].map((acl) =>
            a.create('/n-', { flags: PERSISTENT_SEQUENTIAL, acl }),
          )
          t.see(...(await Promise.all(replies)).map((reply) => t.path(reply)))
        },
        expect: ['/n-0000000000 InvalidACL /n-0000000001 InvalidACL /n-0000000002'],
      },
    },
    {
      number: 9,
      text: 'A failed `multi` uses up no number.',
      source: 'PrepRequestProcessor.rollbackPendingChanges, ZOOKEEPER-1624',
      follows: ['sequential/7', 'multi/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })
          const missing = { type: OpCode.delete, request: { path: '/missing', version: -1 } } as const
          const replies = [
            a.multi(part('/n-'), part('/n-'), missing),
            a.create('/n-', { flags: PERSISTENT_SEQUENTIAL }),
          ]
          t.see(t.path((await Promise.all(replies))[1]))
        },
        expect: ['/n-0000000001'],
      },
    },
    {
      number: 10,
      text: 'The creates of a `multi` get numbers one after another.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['sequential/4', 'multi/5', 'watches/32'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.results(await a.multi(part('/n-'), part('/n-'))))
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['Ok [create /n-0000000000, create /n-0000000001]', '/n-0000000002'],
      },
    },
    {
      number: 11,
      text: 'Each parent has a counter of its own. Neither its own data and ACL nor nodes further below move it.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['sequential/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/p', '/q', '/p/a', '/p/a/deeper']) await a.create(path)
          await a.setData('/p', 'x')
          await a.setACL('/p', open)
          t.see(t.path(await a.create('/p/n-', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.path(await a.create('/q/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/p/n-0000000001', '/q/n-0000000000'],
      },
    },
    {
      number: 12,
      text: 'When the parent is deleted and created again, the counter begins at 0 again.',
      source: 'DataTree.createNode',
      follows: ['sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await a.create('/p/n-', { flags: PERSISTENT_SEQUENTIAL })
          await a.delete('/p/n-0000000000')
          await a.delete('/p')
          await a.create('/p')
          t.see(t.path(await a.create('/p/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/p/n-0000000000'],
      },
    },
    {
      number: 13,
      text: 'A path that ends with a slash is valid in a sequential create: the number is the whole name.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate, PathUtils.validatePath',
      follows: ['sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/p', '/q']) await a.create(path)
          t.see(t.path(await a.create('/p/', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.path(await a.create('/q/', { flags: EPHEMERAL_SEQUENTIAL })))
        },
        expect: ['/p/0000000000', '/q/0000000000'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: 'The names are checked with the number: a sequential create of `/.` succeeds, one of a path with a control character fails.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate, PathUtils.validatePath',
      follows: ['sequential/1', 'sequential/13'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/.', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.path(await a.create('/a\u0001', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/.0000000000', 'BadArguments'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'If the name with the number is taken, the create fails with `NodeExists`. It does not try the next number.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['sequential/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n-0000000001')
          for (let i = 0; i < 2; i++) t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
          await a.create('/another')
          t.see(t.path(await a.create('/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['NodeExists', 'NodeExists', '/n-0000000002'],
      },
    },
    {
      number: 16,
      profile: 'full',
      text: 'A node at the path of the request itself does not matter.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['sequential/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/n')
          t.see(t.path(await a.create('/n', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['/n0000000001'],
      },
    },
    {
      number: 17,
      text: 'The errors of a sequential create are those of a create: `NoNode` without a parent, `NoAuth` without permission on it.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['create/18'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/p', { acl: readOnly })
          t.see(t.path(await a.create('/missing/n-', { flags: PERSISTENT_SEQUENTIAL })))
          t.see(t.path(await a.create('/p/n-', { flags: PERSISTENT_SEQUENTIAL })))
        },
        expect: ['NoNode', 'NoAuth'],
      },
    },
    {
      number: 18,
      text: 'Numbers that several sessions get at once are different, and leave no gap.',
      source: 'PrepRequestProcessor: one thread prepares all writes',
      follows: ['sequential/4'],
      check: {
        play: async (t) => {
          const sessions = [await t.open(), await t.open({ at: 'follower' }), await t.open({ at: 'other follower' })]
          const numbers = await Promise.all(sessions.map((session) => take(t, session, 5)))
          t.see(...numbers.flat().toSorted((one, other) => one - other))
        },
        expect: ['0 1 2 3 4 5 6 7 8 9 10 11 12 13 14'],
      },
    },
    {
      number: 19,
      text: 'The numbers of one connection are in the order of its requests.',
      source: 'PrepRequestProcessor: one thread prepares all writes',
      follows: ['sequential/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(...(await take(t, a, 8)))
        },
        expect: ['0 1 2 3 4 5 6 7'],
      },
    },
    {
      number: 20,
      level: 'SHOULD',
      profile: 'full',
      text: 'After 2147483647 the counter stays where it is: every further sequential create gets this number, and fails with `NodeExists` if the name is taken. Before 3.6 it continues at -2147483648.',
      source: 'DataTree.createNode, ZOOKEEPER-3249',
      check: { unchecked: 'It takes 2147483647 creates in one parent.' },
    },
    {
      number: 21,
      level: 'SHOULD',
      profile: 'full',
      text: 'A negative number is a minus sign and at least nine digits, such as `-2147483648` and `-000000001`. Servers before 3.6 give such numbers, later ones only while creates are in progress.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate: String.format("%010d")',
      check: { unchecked: 'It takes 2147483648 creates in one parent.' },
    },
  ],
}

const part = (path: string) =>
  ({ type: OpCode.create, request: { path, data: null, acl: open, flags: PERSISTENT_SEQUENTIAL } }) as const

/** Sends several sequential creates at once. Returns the numbers in the order of the requests. */
async function take(t: Trial, session: Session, count: number): Promise<readonly number[]> {
  const replies = Array.from({ length: count }, () => session.create('/n-', { flags: PERSISTENT_SEQUENTIAL }))
  return (await Promise.all(replies)).map((reply) => Number(t.path(reply).slice('/n-'.length)))
}

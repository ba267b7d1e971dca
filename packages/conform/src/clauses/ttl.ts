import { CreateMode, OpCode, Perms } from '@zk/wire'
import { open, type Reply, type Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const { PERSISTENT, EPHEMERAL, CONTAINER, PERSISTENT_WITH_TTL, PERSISTENT_SEQUENTIAL_WITH_TTL } = CreateMode
const LONGEST = 0xff_ffff_ffffn
/** A TTL that is over while a check waits for it, but not before the check has set its watches, in ms. */
const SHORT = 1_500n
const readOnly = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

export const ttl: Chapter = {
  name: 'ttl',
  title: 'Nodes with a TTL',
  introduction:
    'A node with a TTL is a persistent node that the server deletes when it has no children, and its data has not been set for that time. ' +
    '`createTTL` (opcode 21) makes it, with flags 5, or 6 for a sequential one; the TTL is in milliseconds. The leader looks for such ' +
    'nodes when it looks for empty containers. Servers have TTLs only if they are started with `zookeeper.extendedTypesEnabled=true`.',
  clauses: [
    {
      number: 1,
      profile: 'extended',
      text: '`createTTL` makes a node, and is answered with its path and its Stat, as `create2` is.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-2169',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await createTTL(a, '/a')
          t.see(t.path(reply), t.stat(reply, 'version', 'dataLength', 'numChildren'))
          t.see(t.data(await a.getData('/a')))
        },
        expect: ['/a version 0 dataLength 1 numChildren 0', "'x'"],
      },
    },
    {
      number: 2,
      profile: 'extended',
      text: 'Flags 6 append a number, as flags 2 of `create` do.',
      source: 'CreateMode.fromFlag',
      follows: ['sequential/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await createTTL(a, '/n-', { flags: PERSISTENT_SEQUENTIAL_WITH_TTL })))
        },
        expect: ['/n-0000000000'],
      },
    },
    {
      number: 3,
      profile: 'extended',
      text: 'Clients cannot see the TTL of a node: its `ephemeralOwner` is 0.',
      source: 'DataNode.copyStat, EphemeralType',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see('createTTL', t.stat(await createTTL(a, '/a'), 'ephemeralOwner'))
          t.see('exists', t.stat(await a.exists('/a'), 'ephemeralOwner'))
        },
        expect: ['createTTL ephemeralOwner 0', 'exists ephemeralOwner 0'],
      },
    },
    {
      number: 4,
      profile: 'extended',
      text: 'A TTL is at least 1 ms and at most 2⁴⁰ - 1 ms. Others fail with `BadArguments`.',
      source: 'EphemeralType.validateTTL',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const milliseconds of [LONGEST, 0n, -1n, LONGEST + 1n, 0x7fff_ffff_ffff_ffffn]) {
            t.see(milliseconds, t.error(await createTTL(a, `/${milliseconds}`, { milliseconds })))
          }
        },
        expect: [
          '1099511627775 Ok',
          '0 BadArguments',
          '-1 BadArguments',
          '1099511627776 BadArguments',
          '9223372036854775807 BadArguments',
        ],
      },
    },
    {
      number: 5,
      profile: 'extended',
      text: '`createTTL` with the flags of a node without a TTL fails with `BadArguments`, as with flags that mean nothing.',
      source: 'EphemeralType.validateTTL, CreateMode.fromFlag',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const flags of [PERSISTENT, EPHEMERAL, CONTAINER, 7]) {
            t.see(flags, t.error(await createTTL(a, '/a', { flags })))
          }
        },
        expect: ['0 BadArguments', '1 BadArguments', '4 BadArguments', '7 BadArguments'],
      },
    },
    {
      number: 6,
      profile: 'extended',
      text: '`create`, `create2` and `createContainer` with the flags of a node with a TTL fail with `BadArguments`, because they have none.',
      source: 'EphemeralType.validateTTL',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const op of ['create', 'create2', 'createContainer'] as const) {
            const replies = [PERSISTENT_WITH_TTL, PERSISTENT_SEQUENTIAL_WITH_TTL].map((flags) =>
              a.create('/a', { op, flags }),
            )
            t.see(op, ...(await Promise.all(replies)).map((reply) => t.error(reply)))
          }
        },
        expect: [
          'create BadArguments BadArguments',
          'create2 BadArguments BadArguments',
          'createContainer BadArguments BadArguments',
        ],
      },
    },
    {
      number: 7,
      profile: 'extended',
      text: 'A server that does not have TTLs enabled answers every create with flags 5 or 6 with `Unimplemented`. The connection stays open.',
      source: 'PrepRequestProcessor.validateCreateRequest',
      check: { unchecked: 'This profile is for servers that have them enabled.' },
    },
    {
      number: 8,
      profile: 'extended',
      text: 'The TTL is checked before the ACL and the parent; all other checks are those of `create`, in the same order.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['create/16', 'create/17', 'create/18', 'ttl/4'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/here')
          await a.create('/locked', { acl: readOnly })
          t.see('TTL', t.error(await createTTL(a, '/missing/a', { milliseconds: 0n, acl: [] })))
          t.see('ACL', t.error(await createTTL(a, '/missing/a', { acl: [] })))
          for (const path of ['/missing/a', '/locked/a', '/.', '/here']) t.see(path, t.error(await createTTL(a, path)))
        },
        expect: [
          'TTL BadArguments',
          'ACL InvalidACL',
          '/missing/a NoNode',
          '/locked/a NoAuth',
          '/. BadArguments',
          '/here NodeExists',
        ],
      },
    },
    {
      number: 9,
      profile: 'extended',
      text: 'A node with a TTL may have children of every kind. It outlives the session that created it.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate, DataTree.killSession',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await createTTL(a, '/a')
          await a.close()
          await b.create('/a/p')
          await b.create('/a/e', { flags: EPHEMERAL })
          await b.create('/a/c', { op: 'createContainer', flags: CONTAINER })
          await createTTL(b, '/a/t')
          t.see(t.children(await b.getChildren('/a')))
        },
        expect: ['[c, e, p, t]'],
      },
    },
    {
      number: 10,
      profile: 'extended',
      text: 'Some time after its TTL is over, the server deletes a node without children, and fires the watches of the node and of its parent.',
      source: 'ContainerManager.getCandidates, DataTree.deleteNode',
      follows: ['watches/2', 'watches/5', 'watches/7'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await createTTL(a, '/a', { milliseconds: SHORT })
          await a.exists('/a', true)
          await a.getChildren('/', true)
          await t.heard(a, 2)
          for (const event of (await t.events(a)).toSorted()) t.see(event)
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['NodeChildrenChanged /', 'NodeDeleted /a', 'NoNode'],
      },
    },
    {
      number: 11,
      profile: 'extended',
      text: 'A node is not deleted before its TTL is over.',
      source: 'ContainerManager.getCandidates',
      follows: ['ttl/10'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          const { runtime } = t.scenario.stage
          await createTTL(a, '/long', { milliseconds: 600_000n })
          const since = runtime.wallNow()
          await deleted(t, a, '/short', 1)
          t.see('short', runtime.wallNow() - since >= Number(SHORT) - 100, 'long', t.error(await a.exists('/long')))
        },
        expect: ['short true long Ok'],
      },
    },
    {
      number: 12,
      profile: 'extended',
      text: 'A `setData` begins the TTL anew.',
      source: 'ContainerManager.getElapsed: since mtime',
      follows: ['ttl/10', 'stat/7', 'ttl/11'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await createTTL(a, '/kept', { milliseconds: SHORT })
          let isOver = false
          const others = deleted(t, a, '/1', 1)
            .then(() => deleted(t, a, '/2', 2))
            .then(() => (isOver = true))
          while (!isOver) {
            await a.setData('/kept', 'x')
            await t.sleep(200)
          }
          await others
          t.see(t.error(await a.exists('/kept')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 13,
      profile: 'extended',
      text: 'A node whose TTL is over stays while it has children, and is deleted when they are gone.',
      source: 'ContainerManager.getCandidates',
      follows: ['ttl/10'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await createTTL(a, '/a', { milliseconds: SHORT })
          await a.create('/a/b')
          await deleted(t, a, '/1', 1)
          await deleted(t, a, '/2', 2)
          t.see(t.error(await a.exists('/a', true)))
          await a.delete('/a/b')
          await t.heard(a, 3)
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['Ok', 'NoNode'],
      },
    },
    {
      number: 14,
      profile: 'extended',
      text: 'A `multi` may contain `createTTL`, with the same checks.',
      source: 'MultiOperationRecord.deserialize, PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['ttl/4', 'multi/2', 'multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const part = (path: string, milliseconds: bigint) =>
            ({ type: OpCode.createTTL, request: requestFor(path, { milliseconds }) }) as const
          t.see(t.error(await a.multi(part('/a', 60_000n))), t.error(await a.exists('/a')))
          t.see(t.results(await a.multi(part('/b', 60_000n), part('/c', 0n))), t.error(await a.exists('/b')))
        },
        expect: ['Ok Ok', 'Ok [error Ok, error BadArguments] NoNode'],
      },
    },
    {
      number: 15,
      level: 'SHOULD',
      profile: 'extended',
      text: '`createTTL` with the flags of a node without a TTL fails with `BadArguments` if the TTL is negative, too.',
      source: 'EphemeralType.validateTTL',
      check: {
        unchecked:
          'Real servers up to 3.9.5 accept it from any client, stop when they apply the transaction, and cannot start again: it is in their log.',
      },
    },
  ],
}

interface TTLOptions {
  readonly milliseconds?: bigint
  readonly flags?: number
  readonly acl?: typeof open
}

function requestFor(path: string, { milliseconds = 600_000n, flags = PERSISTENT_WITH_TTL, acl = open }: TTLOptions) {
  return { path, data: Uint8Array.of(0x78), acl, flags, ttl: milliseconds }
}

function createTTL(session: Session, path: string, options: TTLOptions = {}): Promise<Reply> {
  return session.call('createTTL', requestFor(path, options))
}

/** Creates a node with a short TTL, and waits for its deletion: the event with this number on the connection. */
async function deleted(t: Trial, session: Session, path: string, events: number): Promise<void> {
  await createTTL(session, path, { milliseconds: SHORT })
  await session.exists(path, true)
  await t.heard(session, events)
}

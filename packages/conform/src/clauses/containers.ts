import { CreateMode, OpCode } from '@zk/wire'
import type { CreateOptions, Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const container: CreateOptions = { op: 'createContainer', flags: CreateMode.CONTAINER }

export const containers: Chapter = {
  name: 'containers',
  title: 'Containers',
  introduction:
    'A container is a persistent node that the server deletes some time after its last child is gone. `createContainer` (opcode 19) ' +
    'makes it, with flags 4. The leader looks for empty containers from time to time: each minute, unless ' +
    '`znode.container.checkIntervalMs` says otherwise. So a client that creates a child must expect that the container has just ' +
    'been deleted: `NoNode`.',
  clauses: [
    {
      number: 1,
      text: '`createContainer` makes a node, and is answered with its path and its Stat, as `create2` is.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-2163',
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.create('/c', { ...container, data: 'four' })
          t.see(t.path(reply), t.stat(reply, 'version', 'dataLength', 'numChildren'))
          t.see(t.data(await a.getData('/c')))
        },
        expect: ['/c version 0 dataLength 4 numChildren 0', "'four'"],
      },
    },
    {
      number: 2,
      text: 'Clients cannot see that a node is a container: its `ephemeralOwner` is 0.',
      source: 'DataNode.copyStat, EphemeralType',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see('createContainer', t.stat(await a.create('/c', container), 'ephemeralOwner'))
          t.see('exists', t.stat(await a.exists('/c'), 'ephemeralOwner'))
        },
        expect: ['createContainer ephemeralOwner 0', 'exists ephemeralOwner 0'],
      },
    },
    {
      number: 3,
      text: 'A container may have children of every kind: persistent, ephemeral, and containers.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate: only ephemeral parents are refused',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/c', container)
          await a.create('/c/p')
          await a.create('/c/e', { flags: CreateMode.EPHEMERAL })
          await a.create('/c/c', container)
          t.see(t.children(await a.getChildren('/c')))
        },
        expect: ['[c, e, p]'],
      },
    },
    {
      number: 4,
      text: 'A container outlives the session that created it, and is deleted by a `delete` like any other node.',
      source: 'DataTree.killSession, PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/c', container)
          await a.close()
          t.see(t.error(await b.exists('/c')), t.error(await b.delete('/c')))
        },
        expect: ['Ok Ok'],
      },
    },
    {
      number: 5,
      text: 'The errors of `createContainer` are those of `create`: `NodeExists`, `NoNode` without a parent, `BadArguments` for an invalid name.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/a', '/missing/c', '/.']) t.see(path, t.error(await a.create(path, container)))
        },
        expect: ['/a NodeExists', '/missing/c NoNode', '/. BadArguments'],
      },
    },
    {
      number: 6,
      text: 'When its last child is gone, the server deletes the container some time later.',
      source: 'ContainerManager.checkContainers',
      follows: ['stat/9'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await a.create('/c', container)
          await a.create('/c/a')
          t.see(t.error(await a.exists('/c', true)))
          await a.delete('/c/a')
          await t.heard(a, 1)
          t.see(t.error(await a.exists('/c')))
        },
        expect: ['Ok', 'NoNode'],
      },
    },
    {
      number: 7,
      text: 'It does not matter how the last child went: the end of the session of an ephemeral child counts as well.',
      source: 'ContainerManager.getCandidates',
      follows: ['containers/6'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/c', container)
          await b.create('/c/e', { flags: CreateMode.EPHEMERAL })
          await a.exists('/c', true)
          await b.close()
          await t.heard(a, 1)
          t.see(t.error(await a.exists('/c')))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 8,
      text: 'The deletion of a container fires the watches of the node and of its parent.',
      source: 'DataTree.deleteNode',
      follows: ['containers/6', 'watches/2', 'watches/5', 'watches/7'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await a.create('/c', container)
          await a.create('/c/a')
          await a.exists('/c', true)
          await a.getChildren('/', true)
          await a.delete('/c/a')
          await t.heard(a, 2)
          for (const event of (await t.events(a)).toSorted()) t.see(event)
        },
        expect: ['NodeChildrenChanged /', 'NodeDeleted /c'],
      },
    },
    {
      number: 9,
      text: 'The deletion of a container moves `cversion` and `pzxid` of its parent, as a `delete` does.',
      source: 'DataTree.deleteNode',
      follows: ['containers/6', 'stat/10', 'stat/12'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await a.create('/p')
          await emptied(a, '/p/c')
          const before = t.statOf(await a.exists('/p'))
          await t.heard(a, 1)
          const after = t.statOf(await a.exists('/p'))
          t.see('cversion', (after?.cversion ?? 0) - (before?.cversion ?? 0))
          t.see('pzxid', (after?.pzxid ?? 0n) > (before?.pzxid ?? 0n))
        },
        expect: ['cversion 1', 'pzxid true'],
      },
    },
    {
      number: 10,
      text: 'A container that never had a child stays, because it may be new.',
      source: 'ContainerManager.getCandidates: cversion > 0',
      follows: ['containers/6'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await a.create('/c', container)
          await twoChecks(t, a)
          t.see(t.error(await a.exists('/c')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 11,
      text: 'A container that has children stays.',
      source: 'ContainerManager.getCandidates',
      follows: ['containers/6'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          await a.create('/c', container)
          for (const path of ['/c/a', '/c/b']) await a.create(path)
          await a.delete('/c/a')
          await twoChecks(t, a)
          t.see(t.error(await a.exists('/c')), t.error(await a.exists('/c/b')))
        },
        expect: ['Ok Ok'],
      },
    },
    {
      number: 12,
      text: 'A container in a container counts as a child: when it is deleted, the outer one follows.',
      source: 'ContainerManager.getCandidates',
      follows: ['containers/6', 'watches/2', 'watches/5', 'persistent-watches/8'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/outer', '/outer/inner']) await a.create(path, container)
          await a.create('/outer/inner/a')
          for (const path of ['/outer', '/outer/inner']) await a.exists(path, true)
          await a.delete('/outer/inner/a')
          // Each deletion may take the server's whole interval.
          for (const count of [1, 2]) await t.heard(a, count)
          for (const event of await t.events(a)) t.see(event)
        },
        expect: ['NodeDeleted /outer/inner', 'NodeDeleted /outer'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: 'The opcode makes the container, not the flags: `createContainer` with flags 0 makes one, too, and with flags 2 one with a number.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['containers/6', 'sequential/5', 'watches/2', 'watches/5', 'persistent-watches/13', 'sequential/1'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          for (const flags of [CreateMode.PERSISTENT, CreateMode.PERSISTENT_SEQUENTIAL]) {
            const path = t.path(await a.create('/c', { op: 'createContainer', flags }))
            await a.create(`${path}/a`)
            await a.exists(path, true)
            await a.delete(`${path}/a`)
          }
          await t.heard(a, 2)
          for (const event of (await t.events(a)).toSorted()) t.see(event)
        },
        expect: ['NodeDeleted /c', 'NodeDeleted /c0000000001'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: '`create` and `create2` with flags 4 make a persistent node: it stays when its last child is gone.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['containers/6'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open()
          for (const op of ['create', 'create2'] as const) {
            t.see(t.path(await a.create(`/${op}`, { op, flags: CreateMode.CONTAINER })))
            await a.create(`/${op}/a`)
            await a.delete(`/${op}/a`)
          }
          await twoChecks(t, a)
          t.see(t.error(await a.exists('/create')), t.error(await a.exists('/create2')))
        },
        expect: ['/create', '/create2', 'Ok Ok'],
      },
    },
    {
      number: 15,
      level: 'SHOULD',
      profile: 'full',
      text: '`deleteContainer` (opcode 20) is a request of the leader to itself. If a client sends it, the server closes the connection without an answer, and deletes nothing.',
      source: 'ZooKeeperServer.processPacket, DeleteContainerRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/a')
          t.see(t.error(await a.callRaw(OpCode.deleteContainer, withLength(a.pathBelow('/a')))))
          t.see(t.error(await b.exists('/a')))
        },
        expect: ['closed', 'Ok'],
        differs: [
          {
            what: 'It fails with `BadArguments`, because the path that the server reads begins with the header of the request.',
            before: '3.8.7',
            expect: ['BadArguments', 'Ok'],
          },
          {
            what: 'It deletes any node without children that is not ephemeral, and asks for no permission (ZOOKEEPER-4575).',
            since: ['3.9.0'],
            before: '3.9.6',
            expect: ['Ok', 'NoNode'],
          },
        ],
      },
    },
  ],
}

/** Makes a container that has just lost its last child, with a watch that hears its deletion. */
async function emptied(session: Session, path: string): Promise<void> {
  await session.create(path, container)
  await session.create(`${path}/a`)
  await session.exists(path, true)
  await session.delete(`${path}/a`)
}

/** Waits until the server has looked for empty containers twice. */
async function twoChecks(t: Trial, session: Session): Promise<void> {
  for (const [index, path] of ['/first', '/second'].entries()) {
    await emptied(session, path)
    await t.heard(session, index + 1)
  }
}

function withLength(path: string): Uint8Array {
  const bytes = new TextEncoder().encode(path)
  const body = new Uint8Array(4 + bytes.length)
  new DataView(body.buffer).setInt32(0, bytes.length)
  body.set(bytes, 4)
  return body
}

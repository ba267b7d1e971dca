import { CreateMode, Perms } from '@zk/wire'
import type { Reply } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const onlyAdmin = [{ perms: Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } }]

export const reads: Chapter = {
  name: 'reads',
  title: 'Reads',
  introduction:
    '`exists` answers with the Stat of a node, `getData` with data and Stat, `getChildren` with the names of the children, and ' +
    '`getChildren2` with names and Stat. `getAllChildrenNumber` and `getEphemerals` came with 3.6. A server answers reads from its own ' +
    'copy of the tree. It looks the node up, then checks the permission `READ` on it, and sets the watch last. See also [paths](paths.md) and [stat](stat.md).',
  clauses: [
    {
      number: 1,
      text: '`exists` of a node is answered with its Stat.',
      source: 'FinalRequestProcessor.processRequest, DataTree.statNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'four' })
          t.see(t.stat(await a.exists('/a'), 'dataLength'))
        },
        expect: ['dataLength 4'],
      },
    },
    {
      number: 2,
      text: '`exists` of a missing node fails with `NoNode`.',
      source: 'DataTree.statNode',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.stat(await a.exists('/a'), 'version'), t.stat(await a.exists('/a/b'), 'version'))
        },
        expect: ['NoNode NoNode'],
      },
    },
    {
      number: 3,
      text: '`exists` fails with `NoAuth` if the session may not read the node, because a Stat is information about it.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-2590',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: onlyAdmin })
          t.see(t.error(await a.exists('/a')))
        },
        expect: ['NoAuth'],
        differs: [
          { what: '`exists` asks for no permission.', before: '3.8.4', expect: ['Ok'] },
          { what: '`exists` asks for no permission.', before: '3.9.2', since: ['3.9.0'], expect: ['Ok'] },
        ],
      },
    },
    {
      number: 4,
      text: '`getData` is answered with the data and the Stat.',
      source: 'FinalRequestProcessor.handleGetDataRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { data: 'text' })
          const reply = await a.getData('/a')
          t.see(t.data(reply), t.stat(reply, 'dataLength'))
        },
        expect: ["'text' dataLength 4"],
      },
    },
    {
      number: 5,
      text: '`getData` of a missing node fails with `NoNode`.',
      source: 'FinalRequestProcessor.handleGetDataRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.data(await a.getData('/a')))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 6,
      text: '`getChildren` is answered with the names of the children: not with their paths, and without their own children.',
      source: 'DataTree.getChildren',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/a', '/a/b', '/a/b/deeper', '/a/c', '/ab']) await a.create(path)
          t.see(t.children(await a.getChildren('/a')))
        },
        expect: ['[b, c]'],
      },
    },
    {
      number: 7,
      text: '`getChildren2` is answered with the names of the children and the Stat of their parent.',
      source: 'FinalRequestProcessor.processRequest, DataTree.getChildren',
      follows: ['stat/19'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/a', '/a/b', '/a/b/deeper', '/a/c', '/ab']) await a.create(path)
          const reply = await a.getChildren2('/a')
          t.see(t.children(reply), t.stat(reply, 'numChildren'))
        },
        expect: ['[b, c] numChildren 2'],
      },
    },
    {
      number: 8,
      text: 'The children of a node without children are an empty list, not null.',
      source: 'DataNode.getChildren',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.children(await a.getChildren('/a')), t.children(await a.getChildren2('/a')))
          await a.create('/a/b')
          await a.delete('/a/b')
          t.see(t.children(await a.getChildren('/a')), t.children(await a.getChildren2('/a')))
        },
        expect: ['[] []', '[] []'],
      },
    },
    {
      number: 9,
      text: '`getChildren` and `getChildren2` of a missing node fail with `NoNode`.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.children(await a.getChildren('/a')), t.children(await a.getChildren2('/a')))
        },
        expect: ['NoNode NoNode'],
      },
    },
    {
      number: 10,
      text: 'Children of every kind are listed to every session: persistent, ephemeral, containers.',
      source: 'DataTree.getChildren',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/p')
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          await a.create('/c', { flags: CreateMode.CONTAINER, op: 'createContainer' })
          t.see(t.children(await b.getChildren('/')))
        },
        expect: ['[c, e, p]'],
      },
    },
    {
      number: 11,
      level: 'MAY',
      text: 'The names of children come in no particular order. A client that needs one sorts them.',
      source: 'DataNode.getChildren: a HashSet',
      check: { unchecked: 'Every order is right.' },
    },
    {
      number: 12,
      text: 'Only the ACL of the node itself counts for a read. A node whose parents may not be read can be read.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          await a.create('/a/b', { data: 'x' })
          await a.create('/a/b/c')
          await a.setACL('/a', onlyAdmin)
          t.see(t.data(await a.getData('/a/b')), t.children(await a.getChildren('/a/b')))
        },
        expect: ["'x' [c]"],
      },
    },
    {
      number: 13,
      text: 'Every server has the nodes `/zookeeper`, `/zookeeper/config` and `/zookeeper/quota`.',
      source: 'DataTree: constructor',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          t.see(t.children(await a.getChildren('/zookeeper')))
        },
        expect: ['[config, quota]'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: '`getAllChildrenNumber` is answered with the number of nodes below a node at every depth, without the node itself.',
      source: 'DataTree.getAllChildrenNumber, ZOOKEEPER-3167',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/a', '/a/b', '/a/b/c', '/a/d']) await a.create(path)
          for (const path of ['/a', '/a/b', '/a/d'])
            t.see(path, descendants(t, await a.call('getAllChildrenNumber', { path })))
        },
        expect: ['/a 3', '/a/b 1', '/a/d 0'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: '`getAllChildrenNumber` does not count nodes whose path only begins with the same characters.',
      source: 'DataTree.getAllChildrenNumber',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/a', '/ab', '/ab/c', '/a/d']) await a.create(path)
          t.see(descendants(t, await a.call('getAllChildrenNumber', { path: '/a' })))
        },
        expect: ['1'],
      },
    },
    {
      number: 16,
      profile: 'full',
      text: '`getAllChildrenNumber` of a missing node fails with `NoNode`.',
      source: 'FinalRequestProcessor.processRequest',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.call('getAllChildrenNumber', { path: '/a' })))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 17,
      profile: 'full',
      text: '`getAllChildrenNumber` of the root counts all nodes of the server except the root, so also `/zookeeper` and the nodes below it.',
      source: 'DataTree.getAllChildrenNumber',
      since: '3.6',
      check: { unchecked: 'The number depends on the nodes of all other clients.' },
    },
    {
      number: 18,
      profile: 'full',
      text: '`getEphemerals` answers with the paths of the ephemeral nodes of its own session only.',
      source: 'FinalRequestProcessor.processRequest, ZOOKEEPER-3209',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/p')
          for (const path of ['/a', '/p/b']) await a.create(path, { flags: CreateMode.EPHEMERAL })
          await b.create('/c', { flags: CreateMode.EPHEMERAL })
          t.see(ephemerals(t, await a.call('getEphemerals', { prefixPath: '/' })))
        },
        expect: ['[/a, /p/b]'],
      },
    },
    {
      number: 19,
      profile: 'full',
      text: '`getEphemerals` of a session without ephemeral nodes is answered with an empty list.',
      source: 'DataTree.getEphemerals',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(ephemerals(t, await a.call('getEphemerals', { prefixPath: '/' })))
        },
        expect: ['[]'],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'The prefix of `getEphemerals` is compared character by character, not name by name: `/a` also matches `/ab`.',
      source: 'FinalRequestProcessor.processRequest',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/a/b', '/ab', '/c']) await a.create(path, { flags: CreateMode.EPHEMERAL })
          for (const prefixPath of ['/a', '/a/', '/missing']) {
            t.see(prefixPath, ephemerals(t, await a.call('getEphemerals', { prefixPath })))
          }
        },
        expect: ['/a [/a/b, /ab]', '/a/ [/a/b]', '/missing []'],
      },
    },
    {
      number: 21,
      profile: 'full',
      text: 'A null, an empty or a blank prefix of `getEphemerals` matches all paths.',
      source: 'FinalRequestProcessor.processRequest',
      since: '3.6',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { flags: CreateMode.EPHEMERAL })
          for (const prefixPath of [null, '', ' ']) {
            t.see(ephemerals(t, await a.call('getEphemerals', { prefixPath })))
          }
        },
        expect: ['[/a]', '[/a]', '[/a]'],
      },
    },
  ],
}

/** The error, or the number of nodes. */
function descendants(t: Trial, reply: Reply): string {
  const total = reply?.op === 'getAllChildrenNumber' ? reply.response?.totalNumber : undefined
  return total === undefined ? t.error(reply) : String(total)
}

/** The error, or the paths in alphabetical order. */
function ephemerals(t: Trial, reply: Reply): string {
  const paths = reply?.op === 'getEphemerals' ? reply.response?.ephemerals : undefined
  if (!paths) return t.error(reply)
  return `[${paths
    .map((path) => t.relative(path ?? 'null'))
    .toSorted()
    .join(', ')}]`
}

import { CreateMode, operations, Perms } from '@zk/wire'
import { byCodeUnit, open, type Session } from '../play/index.ts'
import { group } from './group.ts'

const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL, CONTAINER } = CreateMode
const ops = ['create', 'create2', 'createContainer'] as const
const readOnly = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]
const unknownScheme = [{ perms: Perms.ALL, id: { scheme: 'unknown', id: 'scheme' } }]

export const create = group('create', {
  'create makes nodes of every mode, with the Stat of each': async (s) => {
    const { a, b } = await s.pair()
    for (const op of ops) {
      for (const flags of [PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL, CONTAINER]) {
        await a.create(`/${op}-${flags}-`, { data: 'x', flags, op })
        await a.exists(`/${op}-${flags}-`)
        await a.exists('/')
      }
    }
    await s.settle()
    const list = await b.getChildren2('/')
    const children = list?.op === 'getChildren2' ? (list.response?.children ?? []) : []
    const names = children.map((child) => child ?? '')
    for (const child of names.toSorted(byCodeUnit)) await b.getData(`/${child}`)
    await a.close()
    await s.settle()
    await b.getChildren2('/')
    await b.close()
  },

  'create refuses invalid flags, in every operation': async (s) => {
    const a = await s.open({ at: 'follower' })
    for (const op of ops) {
      // Without 5 and 6, which are for nodes with a TTL.
      for (const flags of [-1, 7, 8, 100, 2 ** 31 - 1, -(2 ** 31)]) await a.create(`/${op}${flags}`, { flags, op })
    }
    await a.getChildren2('/')
    await a.close()
  },

  'create reports errors in the order in which the server checks': async (s) => {
    const a = await s.open()
    await a.create('/here')
    await a.create('/ephemeral', { flags: EPHEMERAL })
    await a.create('/locked', { acl: readOnly })
    for (const acl of [open, [], null, unknownScheme]) {
      for (const flags of [PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, 9]) {
        for (const path of [
          '/here',
          '/new',
          '/missing/child',
          '/ephemeral/child',
          '/locked/child',
          '/here//child',
          '/',
        ]) {
          const reply = await a.create(path, { acl, flags, op: 'create2' })
          if (reply?.op === 'create2' && reply.response?.path) await a.delete(reply.response.path.slice(s.root.length))
        }
      }
    }
    await s.settle()
    await a.getChildren2('/')
    await a.getChildren2('/ephemeral')
    await a.close()
  },

  'create refuses bad paths': async (s) => {
    const a = await s.open()
    await a.create('/a')
    for (const path of badPaths) {
      for (const flags of [PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL]) await a.create(path, { flags })
    }
    await a.getChildren2('/')
    await a.getChildren2('/a')
    await a.close()
  },

  'create accepts names of every alphabet that a path may contain': async (s) => {
    const a = await s.open()
    for (const name of ['ä', 'ß', '日本', ' ', '~', 'a b', '.a', 'a.', '...', '%', '\u00a0', '\ud7ff', '\uffef']) {
      await a.create(`/${name}`, { data: name })
      await a.getData(`/${name}`)
    }
    await a.getChildren('/')
    await a.close()
  },

  'create keeps null data and empty data as they are': async (s) => {
    const a = await s.open()
    await a.create('/null', { data: null, op: 'create2' })
    await a.create('/empty', { data: '', op: 'create2' })
    await a.create('/large', { data: new Uint8Array(500_000), op: 'create2' })
    for (const path of ['/null', '/empty', '/large']) await a.getData(path)
    await a.close()
  },

  'create of the root fails with NodeExists': async (s) => {
    const a = await s.open({ isBelowRoot: false })
    await a.create('/')
    await a.create('/', { flags: EPHEMERAL, op: 'create2' })
    await a.create('/zookeeper')
    await a.close()
  },

  'create of a path that was deleted starts with a new Stat': async (s) => {
    const a = await s.open()
    await a.create('/a', { data: '1', op: 'create2' })
    await a.create('/a/b')
    await a.setData('/a', '2')
    await a.delete('/a/b')
    await a.exists('/a')
    await a.delete('/a')
    await a.create('/a', { data: '3', op: 'create2' })
    await a.exists('/a')
    await a.close()
  },
})

export const sequentialNodes = group('sequential nodes', {
  'create numbers by the children ever created, not by the existing ones': async (s) => {
    const a = await s.open()
    await a.create('/q')
    for (const flags of [PERSISTENT_SEQUENTIAL, PERSISTENT, EPHEMERAL_SEQUENTIAL, EPHEMERAL, PERSISTENT_SEQUENTIAL]) {
      await a.create('/q/n', { flags })
      await a.exists('/q')
    }
    await a.delete('/q/n')
    await a.exists('/q')
    await a.create('/q/m', { flags: PERSISTENT_SEQUENTIAL })
    await a.delete('/q/n0000000000')
    await a.delete('/q/n0000000000')
    await a.create('/q/m', { flags: PERSISTENT_SEQUENTIAL })
    await a.getChildren2('/q')
    await a.close()
  },

  'create numbers from 0 again when the parent was deleted and made again': async (s) => {
    const a = await s.open()
    await a.create('/q')
    const reply = await a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await a.create('/q/n', { flags: EPHEMERAL_SEQUENTIAL })
    await s.settle()
    s.note('first', { value: reply?.op === 'create' ? reply.response?.path : undefined })
    await a.delete('/q/n0000000000')
    await a.delete('/q/n0000000001')
    await a.delete('/q')
    await a.create('/q')
    await a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await a.close()
  },

  'create puts the number behind a path that ends with a slash': async (s) => {
    const a = await s.open()
    await a.create('/q')
    await a.create('/q/', { flags: PERSISTENT_SEQUENTIAL })
    await a.create('/q/', { flags: EPHEMERAL_SEQUENTIAL, op: 'create2' })
    await a.create('/q//', { flags: PERSISTENT_SEQUENTIAL })
    await a.create('//', { flags: PERSISTENT_SEQUENTIAL })
    await a.create('/', { flags: PERSISTENT_SEQUENTIAL })
    await a.getChildren('/q')
    await a.close()
  },

  'create numbers what several sessions make at once without a gap': async (s) => {
    const { a, b } = await s.pair()
    const c = await s.open({ at: 'other follower' })
    await a.create('/q')
    await s.settle()
    const numbers = await Promise.all([a, b, c].map((session) => sequence(session, 10)))
    // The assignment of numbers to sessions is a matter of chance.
    s.note(numbers.flat().sort().join(' '))
    await s.settle()
    await a.exists('/q')
    for (const session of [a, b, c]) await session.close()
  },

  'create numbers the sequential nodes behind a failed sequential create': async (s) => {
    const a = await s.open()
    await a.create('/q')
    await Promise.all([
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL }),
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL, acl: [] }),
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL }),
      a.create('/q/n0000000003'),
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL }),
      a.create('/q/n', { flags: EPHEMERAL_SEQUENTIAL }),
    ])
    await a.getChildren2('/q')
    await a.close()
  },
})

/** Creates sequential nodes without the transcript: their order among those of other sessions varies. Returns their numbers. */
async function sequence(session: Session, count: number): Promise<string[]> {
  const { opCode } = operations.create
  const replies = Array.from({ length: count }, (_, i) => {
    const request = { path: session.pathBelow('/q/n'), data: null, acl: open, flags: PERSISTENT_SEQUENTIAL }
    return session.connection.call({ type: 'request', op: 'create', opCode, xid: 1000 + i, request })
  })
  const answered = await Promise.all(replies)
  return answered.map((reply) => (reply?.op === 'create' ? (reply.response?.path?.slice(-10) ?? '') : ''))
}

const badPaths = [
  null,
  '',
  'a',
  'a/b',
  '/a/',
  '/a//b',
  '//',
  '/.',
  '/..',
  '/a/./b',
  '/a/../b',
  '/\u0000',
  '/a\u0001',
  '/\u001f',
  '/\u007f',
  '/\u009f',
  '/\ue000',
  '/\uf8ff',
  '/\ufff0',
  '/\uffff',
  '/😀',
]

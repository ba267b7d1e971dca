import { OpCode } from '@zk/wire'
import { open, type Reply, type Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

export const paths: Chapter = {
  name: 'paths',
  title: 'Paths',
  introduction:
    'The path of a node is `/`, or a slash and a name for each level, such as `/app/config`. ' +
    'A server compares paths as they are: it changes neither case nor Unicode normalization, and resolves no `.` or `..`. ' +
    'Requests that create nodes, set data or set ACLs check the whole path and fail with `BadArguments` if it is invalid. ' +
    'All other requests only look the node up, so there an invalid path is that of a missing node.',
  clauses: [
    {
      number: 1,
      text: 'A name may contain spaces, punctuation and letters of every alphabet, and is listed as it was created.',
      source: 'PathUtils.validatePath',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const name of ['%', '~', 'a b', ' ', '\u00E4', '\u65E5\u672C', '\u00A0', '\uD7FF', '\uF900', '\uFFEF']) {
            await a.create(`/${name}`)
          }
          t.see(escaped(t.children(await a.getChildren('/'))))
        },
        expect: ['[ , %, a b, ~, \\u00a0, \\u00e4, \\u65e5\\u672c, \\ud7ff, \\uf900, \\uffef]'],
      },
    },
    {
      number: 2,
      text: 'Names that differ only in case, or only in Unicode normalization, are different names.',
      source: 'DataTree.createNode',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const name of ['a', 'A', '\u00E9', 'e\u0301']) await a.create(`/${name}`)
          t.see(escaped(t.children(await a.getChildren('/'))))
        },
        expect: ['[A, a, e\\u0301, \\u00e9]'],
      },
    },
    {
      number: 3,
      text: 'Neither the length of a name nor the depth of a path is limited, except by the largest frame.',
      source: 'PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see('5000 characters', t.error(await a.create(`/${'n'.repeat(5_000)}`)))
          const path = Array.from({ length: 40 }, (_, depth) => '/n'.repeat(depth + 1))
          for (const each of path) await a.create(each)
          t.see('40 levels', t.error(await a.exists(path.at(-1)!)))
        },
        expect: ['5000 characters Ok', '40 levels Ok'],
      },
    },
    {
      number: 4,
      text: 'A path begins with a slash. A `create` without any slash in its path fails with `BadArguments`.',
      source: 'PrepRequestProcessor.validatePathForCreate',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.create('a')))
        },
        expect: ['BadArguments'],
      },
    },
    {
      number: 5,
      text: 'A name is not empty: a `create` whose path ends with a slash fails with `BadArguments`.',
      source: 'PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.error(await a.create('/a/')))
        },
        expect: ['BadArguments'],
      },
    },
    {
      number: 6,
      text: 'The names `.` and `..` are invalid in `create`. Names that only contain dots beside other characters, or three dots, are valid.',
      source: 'PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/.', '/..', '/...', '/.a', '/a.', '/..a', '/a..', '/a..b']) {
            t.see(path, t.error(await a.create(path)))
          }
        },
        expect: [
          '/. BadArguments',
          '/.. BadArguments',
          '/... Ok',
          '/.a Ok',
          '/a. Ok',
          '/..a Ok',
          '/a.. Ok',
          '/a..b Ok',
        ],
      },
    },
    {
      number: 7,
      text: 'The control characters U+0001 to U+001F and U+007F to U+009F are invalid in `create`.',
      source: 'PathUtils.validatePath',
      check: {
        play: (t) => seeCreates(t, '\u0001', '\u001F', '\u007F', '\u009F'),
        expect: ['\\u0001 BadArguments', '\\u001f BadArguments', '\\u007f BadArguments', '\\u009f BadArguments'],
      },
    },
    {
      number: 8,
      text: 'UTF-16 surrogates are invalid in `create`. So a name contains no character beyond U+FFFF, such as an emoji.',
      source: 'PathUtils.validatePath',
      check: {
        play: (t) => seeCreates(t, '\u{1F600}', '\u{10000}'),
        expect: ['\\ud83d\\ude00 BadArguments', '\\ud800\\udc00 BadArguments'],
      },
    },
    {
      number: 9,
      text: 'The private characters U+E000 to U+F8FF, and U+FFF0 to U+FFFF, are invalid in `create`.',
      source: 'PathUtils.validatePath',
      check: {
        play: (t) => seeCreates(t, '\uE000', '\uF8FF', '\uFFF0', '\uFFFD', '\uFFFF'),
        expect: [
          '\\ue000 BadArguments',
          '\\uf8ff BadArguments',
          '\\ufff0 BadArguments',
          '\\ufffd BadArguments',
          '\\uffff BadArguments',
        ],
      },
    },
    {
      number: 10,
      profile: 'full',
      text: '`create` looks the parent up before it checks the names, so an invalid path whose parent is missing fails with `NoNode`.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/a//b', '/a/./b', '/a/../b', '//', 'x/y', '/\u0001/b']) {
            t.see(escaped(path), t.error(await a.create(path)))
          }
        },
        expect: ['/a//b NoNode', '/a/./b NoNode', '/a/../b NoNode', '// NoNode', 'x/y NoNode', '/\\u0001/b NoNode'],
      },
    },
    {
      number: 11,
      text: '`setData` and `setACL` check the whole path: they fail with `BadArguments`, not `NoNode`, if it is invalid.',
      source: 'PrepRequestProcessor.pRequest2Txn, PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['a', '/a/', '/a//b', '/.', '/a\u0001']) {
            t.see(escaped(path), t.error(await a.setData(path)), t.error(await a.setACL(path, open)))
          }
        },
        expect: [
          'a BadArguments BadArguments',
          '/a/ BadArguments BadArguments',
          '/a//b BadArguments BadArguments',
          '/. BadArguments BadArguments',
          '/a\\u0001 BadArguments BadArguments',
        ],
      },
    },
    {
      number: 12,
      profile: 'full',
      text: 'A `check` in a `multi` checks the whole path like `setData`.',
      source: 'PrepRequestProcessor.pRequest2Txn, PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['a', '/a/', '/.']) {
            t.see(path, t.results(await a.multi({ type: OpCode.check, request: { path, version: -1 } })))
          }
        },
        expect: ['a Ok [error BadArguments]', '/a/ Ok [error BadArguments]', '/. Ok [error BadArguments]'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: '`delete` only requires a slash in the path. An invalid path is otherwise that of a missing node: `NoNode`.',
      source: 'PrepRequestProcessor.getParentPathAndValidate',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['a', '/a/', '/a//b', '/.', '/a\u0001']) {
            t.see(escaped(path), t.error(await a.delete(path)))
          }
        },
        expect: ['a BadArguments', '/a/ NoNode', '/a//b NoNode', '/. NoNode', '/a\\u0001 NoNode'],
      },
    },
    {
      number: 14,
      text: 'A read does not check its path: an invalid path is that of a missing node, and the read fails with `NoNode`.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['a', '/a/', '/a//b', '/.', '/a\u0001']) {
            t.see(escaped(path), ...(await reads(a, path)).map((reply) => t.error(reply)))
          }
        },
        expect: ['a', '/a/', '/a//b', '/.', '/a\\u0001'].map((path) => `${path} NoNode NoNode NoNode NoNode NoNode`),
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'A write whose path contains U+0000 fails with `BadArguments`, whatever else is wrong with the path.',
      source: 'PrepRequestProcessor.validatePathForCreate, getParentPathAndValidate; PathUtils.validatePath',
      follows: ['paths/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['/a\0', '/missing/a\0']) {
            t.see('create', t.error(await a.create(path)))
            t.see('delete', t.error(await a.delete(path)))
            t.see('setData', t.error(await a.setData(path)))
          }
        },
        expect: ['create', 'delete', 'setData', 'create', 'delete', 'setData'].map((op) => `${op} BadArguments`),
      },
    },
    {
      number: 16,
      profile: 'full',
      text: '`exists` with U+0000 in its path fails with `BadArguments`. For all other reads such a path is that of a missing node.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(...(await reads(a, '/a\0')).map((reply) => t.error(reply)))
        },
        expect: ['BadArguments NoNode NoNode NoNode NoNode'],
      },
    },
    {
      number: 17,
      profile: 'full',
      text: 'A write with an empty path fails with `BadArguments`.',
      source: 'PrepRequestProcessor.validatePathForCreate, getParentPathAndValidate; PathUtils.validatePath',
      follows: ['paths/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see('create', t.error(await a.create('')))
          t.see('delete', t.error(await a.delete('')))
          t.see('setData', t.error(await a.setData('')))
          t.see('setACL', t.error(await a.setACL('', open)))
        },
        expect: ['create BadArguments', 'delete BadArguments', 'setData BadArguments', 'setACL BadArguments'],
      },
    },
    {
      number: 18,
      level: 'MAY',
      profile: 'full',
      text: 'A read takes the empty path as the root.',
      source: 'DataTree: the root is also stored under the empty path',
      check: {
        play: async (t) => {
          const a = await t.open()
          const root = await t.open({ isBelowRoot: false })
          // The root may be protected by an ACL, so the answers are only compared.
          const [empty, slash] = await Promise.all([reads(a, ''), reads(root, '/')])
          for (const [index, reply] of empty.entries()) t.see(t.error(reply) === t.error(slash[index]))
        },
        expect: ['true', 'true', 'true', 'true', 'true'],
      },
    },
    {
      number: 19,
      profile: 'full',
      text: 'A `create` or `delete` with a null path fails with `MarshallingError`, a `setData` or `setACL` with `BadArguments`. The connection stays open.',
      source: 'PrepRequestProcessor.pRequest, PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see('create', t.error(await a.create(null)))
          t.see('delete', t.error(await a.delete(null)))
          t.see('setData', t.error(await a.setData(null)))
          t.see('setACL', t.error(await a.setACL(null, open)))
          t.see(t.error(await a.exists('/')))
        },
        expect: [
          'create MarshallingError',
          'delete MarshallingError',
          'setData BadArguments',
          'setACL BadArguments',
          'Ok',
        ],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'A read with a null path fails with `MarshallingError`, and the connection stays open.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(...(await reads(a, null)).map((reply) => t.error(reply)))
          t.see(t.error(await a.exists('/')))
        },
        expect: ['MarshallingError MarshallingError MarshallingError MarshallingError MarshallingError', 'Ok'],
      },
    },
  ],
}

async function seeCreates(t: Trial, ...characters: readonly string[]): Promise<void> {
  const a = await t.open()
  for (const each of characters) t.see(escaped(each), t.error(await a.create(`/a${each}`)))
}

function reads(session: Session, path: string | null): Promise<readonly Reply[]> {
  return Promise.all([
    session.exists(path),
    session.getData(path),
    session.getChildren(path),
    session.getChildren2(path),
    session.getACL(path),
  ])
}

/** Every character that is not printable ASCII as `\u` and four hexadecimal digits. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    const code = text.charCodeAt(index)
    return code >= 0x20 && code < 0x7f ? text[index]! : `\\u${code.toString(16).padStart(4, '0')}`
  }).join('')
}

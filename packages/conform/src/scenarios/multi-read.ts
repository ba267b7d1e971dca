import { type MultiOp, OpCode, Perms } from '@zk/wire'
import { group } from './group.ts'

const getData = (path: string | null, watch = false): MultiOp => ({ type: OpCode.getData, request: { path, watch } })
const getChildren = (path: string | null, watch = false): MultiOp => ({
  type: OpCode.getChildren,
  request: { path, watch },
})
const writeOnly = [{ perms: Perms.ALL & ~Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

export const multiRead = group('multiRead', {
  'multiRead has a result for each part': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a', { data: 'data' })
    await a.create('/a/b', { data: null, flags: 1 })
    await a.create('/closed', { data: 'secret', acl: writeOnly })
    await s.settle()
    for (const session of [a, b]) {
      await session.call('multiRead', [getData('/a'), getChildren('/a'), getData('/a/b'), getChildren('/a/b')])
      await session.call('multiRead', [getData('/none'), getData('/a'), getChildren('/none'), getChildren('/')])
      await session.call('multiRead', [getData('/closed'), getChildren('/closed'), getData('/a')])
      await session.call('multiRead', [getData('/a'), getData('/a')])
      await session.call('multiRead', [])
    }
    await a.close()
    await b.close()
  },

  'multiRead accepts any text as a path and answers NoNode': async (s) => {
    const a = await s.open()
    await a.call(
      'multiRead',
      ['a', '/a//b', '/a/', '//'].map((path) => getData(path)),
    )
    await a.call(
      'multiRead',
      ['a', '/a//b', '/a/', '//'].map((path) => getChildren(path)),
    )
    await a.close()
  },

  'multiRead sets no watch': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.call('multiRead', [getData('/a', true), getChildren('/a', true)])
    await a.setData('/a', 'changed')
    await a.create('/a/b')
    await a.close()
  },

  'multiRead with a write, or without a path, is refused as a whole': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.call('multiRead', [{ type: OpCode.delete, request: { path: '/a', version: -1 } }])
    await a.call('multiRead', [{ type: OpCode.check, request: { path: '/a', version: -1 } }])
    await a.call('multiRead', [getData('/a'), { type: OpCode.delete, request: { path: '/a', version: -1 } }])
    await a.call('multiRead', [getChildren('/a'), getData('/none'), getData(null)])
    await a.call('multiRead', [getChildren(null)])
    await a.exists('/a')
    await a.close()
  },

  'multiRead is behind the writes of its session, in any number': {
    // How many are refused before the connection ends is a matter of chance.
    since: '3.6',
    play: async (s) => {
      const a = await s.open({ at: 'follower' })
      const asked: Promise<unknown>[] = []
      for (let i = 0; i < 5; i++) {
        asked.push(a.create(`/n${i}`, { data: String(i) }))
        asked.push(a.call('multiRead', [getData(`/n${i}`), getChildren('/')]))
      }
      await Promise.all(asked)
      await a.close()
    },
  },
})

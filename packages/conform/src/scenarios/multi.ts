import { CreateMode, type MultiOp, Perms } from '@zk/wire'
import { ops as op } from '../play/index.ts'
import { nullInMulti } from '../releases/index.ts'
import { group } from './group.ts'

const { EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL, CONTAINER } = CreateMode
const noRights = [{ perms: 0, id: { scheme: 'world', id: 'anyone' } }]

// Not tried, for the harm it does to a real 3.8.0: a part with a null path blocks its session beyond its expiry, and a
// check outside of a multi is logged as a transaction that no server can read again.
export const multi = group('multi', {
  'multi does all its operations under one zxid': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.multi(
      op.create('/a/b', { data: 'x' }),
      op.setData('/a', 'y', 0),
      op.check('/a', 1),
      op.create('/a/c', { flags: EPHEMERAL }),
      op.create('/a/s-', { flags: PERSISTENT_SEQUENTIAL }),
      op.create('/a/s-', { flags: EPHEMERAL_SEQUENTIAL }),
      op.setData('/a/b', 'z', 0),
      op.delete('/a/b', 1),
    )
    await s.settle()
    for (const path of ['/', '/a', '/a/b', '/a/c', '/a/s-0000000002', '/a/s-0000000003']) await b.getData(path)
    await b.getChildren2('/a')
    await a.close()
    await b.close()
  },

  'an empty multi has an empty result': async (s) => {
    const a = await s.open()
    await a.multi()
    const b = await s.open({ at: 'follower' })
    await b.multi()
    await a.close()
    await b.close()
  },

  'multi sees the changes of its earlier operations': async (s) => {
    const a = await s.open()
    await a.multi(op.create('/a'), op.create('/a/b'), op.create('/a/b/c'), op.check('/a/b/c', 0))
    await a.multi(op.delete('/a/b/c'), op.delete('/a/b'), op.delete('/a'), op.create('/a'))
    await a.exists('/a')
    await a.multi(op.setData('/a', '1', 0), op.setData('/a', '2', 1), op.setData('/a', '3', 2), op.check('/a', 3))
    await a.multi(op.create('/a/s', { flags: 2 }), op.create('/a/s', { flags: 2 }), op.delete('/a/s0000000000'))
    await a.getChildren2('/a')
    await a.close()
  },

  'multi reports what failed, and undoes the rest': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.create('/e', { flags: EPHEMERAL })
    await a.create('/locked', { acl: [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }] })
    const before = [op.create('/n1'), op.setData('/a', 'x')]
    const after = [op.create('/n2'), op.delete('/none')]
    const culprits: MultiOp[] = [
      op.create('/a'),
      op.create('/none/child'),
      op.create('/e/child'),
      op.create('/locked/child'),
      op.create('/x', { acl: [] }),
      op.create('/x', { flags: 77 }),
      op.create('x'),
      op.create2('/a'),
      op.createContainer('/a'),
      op.delete('/none'),
      op.delete('/a', 9),
      op.delete('/'),
      op.delete('/locked/child'),
      op.delete('x'),
      op.setData('/none'),
      op.setData('/a', 'y', 9),
      op.setData('/locked'),
      op.setData('x'),
      op.check('/none'),
      op.check('/a', 9),
      op.check('x'),
    ]
    for (const culprit of culprits) {
      await a.multi(...before, culprit, ...after)
      await a.multi(culprit)
    }
    await a.getChildren2('/')
    await a.getData('/a')
    await a.getData('/locked')
    await a.close()
  },

  'multi with a null list of ACLs fails like one with an empty list': {
    halts: nullInMulti,
    play: async (s) => {
      const a = await s.open()
      await a.create('/a')
      await a.multi(op.setData('/a', 'x'), op.create('/x', { acl: null }), op.delete('/none'))
      await a.multi(op.create('/x', { acl: null }))
      await a.getData('/a')
      await a.getChildren('/')
      await a.close()
    },
  },

  'a failed multi does not change counters and versions': async (s) => {
    const a = await s.open()
    await a.create('/q')
    await a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await a.multi(op.create('/q/n', { flags: 2 }), op.create('/q/n', { flags: 2 }), op.check('/none'))
    await a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await a.multi(op.setData('/q', 'x'), op.delete('/q/n0000000000'), op.check('/none'))
    await a.exists('/q')
    await a.setData('/q', 'y', 0)
    await a.close()
  },

  'a failed multi does not disturb requests pipelined around it': async (s) => {
    const a = await s.open()
    await Promise.all([
      a.create('/q'),
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL }),
      a.multi(op.create('/q/n', { flags: 2 }), op.setData('/q', 'lost'), op.delete('/q/n0000000000'), op.check('/no')),
      a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL }),
      a.setData('/q', 'kept', 0),
      a.delete('/q/n0000000000', 0),
      a.multi(op.create('/q/n', { flags: 2 }), op.check('/q', 1)),
      a.getChildren2('/q'),
      a.multi(op.delete('/q/n0000000001'), op.delete('/q/n0000000002'), op.delete('/q'), op.delete('/none')),
      a.getChildren2('/q'),
      a.multi(op.delete('/q/n0000000001'), op.delete('/q/n0000000002'), op.delete('/q')),
      a.exists('/q'),
    ])
    await a.close()
  },

  'multi has the results of create2 and createContainer': async (s) => {
    const a = await s.open()
    await a.multi(op.create2('/a'))
    await a.multi(op.create2('/a/s', PERSISTENT_SEQUENTIAL), op.create2('/a/e', EPHEMERAL))
    await a.multi(op.createContainer('/c'))
    await a.multi(op.create('/c2', { flags: CONTAINER }))
    await a.create('/c/child')
    await a.create('/c2/child')
    for (const path of ['/a', '/a/e', '/c', '/c2']) await a.exists(path)
    await a.close()
  },

  'multi triggers the watches of its operations in their order': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.create('/b')
    await s.settle()
    for (const session of [a, b]) {
      await session.getData('/a', true)
      await session.getData('/b', true)
      await session.exists('/c', true)
      await session.getChildren('/', true)
      await session.getChildren('/a', true)
    }
    await s.settle()
    await a.multi(op.setData('/b'), op.create('/c'), op.delete('/a'), op.create('/a'), op.setData('/a'))
    await s.settle()
    await b.getData('/a', true)
    await a.multi(op.setData('/a'), op.check('/none'))
    await s.settle()
    await a.close()
    await b.close()
  },

  'multi needs permission on every node': async (s) => {
    const a = await s.open()
    await a.create('/open')
    await a.create('/closed', { acl: noRights })
    await a.multi(op.check('/closed'))
    await a.multi(op.setData('/open'), op.setData('/closed'))
    await a.multi(op.setData('/open'), op.create('/closed/x'))
    await a.multi(op.create('/new', { acl: noRights }), op.setData('/new'))
    await a.multi(op.create('/new', { acl: noRights }), op.create('/new/x'))
    await a.multi(op.create('/new', { acl: noRights }), op.delete('/new'))
    await a.exists('/open')
    await a.close()
  },

  'multi of an ephemeral node and a forbidden child of it': async (s) => {
    const a = await s.open()
    await a.multi(op.create('/e', { flags: EPHEMERAL }), op.create('/e/child'))
    await a.multi(op.create('/e', { flags: EPHEMERAL }), op.delete('/e'), op.create('/e'), op.create('/e/child'))
    await a.getChildren2('/e')
    await a.close()
  },
})

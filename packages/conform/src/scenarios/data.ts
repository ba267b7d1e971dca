import { CreateMode, operations, Perms, type RequestMessage } from '@zk/wire'
import { group } from './group.ts'

const noRights = [{ perms: Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } }]

export const data = group('data', {
  'setData counts versions and keeps all other fields': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a', { data: 'one' })
    await a.getData('/a')
    await a.setData('/a', 'two')
    await a.setData('/a', 'three', 1)
    await a.setData('/a', 'never', 1)
    await a.setData('/a', 'never', 3)
    await a.setData('/a', 'never', -2)
    await a.setData('/a', null, 2)
    await a.getData('/a')
    await a.setData('/a', '', 3)
    await s.settle()
    await b.getData('/a')
    await b.setData('/a', 'five', 4)
    await b.getData('/a')
    await b.exists('/')
    await a.close()
    await b.close()
  },

  'setData by another session does not change the owner of an ephemeral node': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/e', { flags: CreateMode.EPHEMERAL })
    await s.settle()
    await b.setData('/e', 'mine')
    await b.getData('/e')
    await b.close()
    await s.settle()
    await a.exists('/e')
    await a.close()
  },

  'delete checks version and children, and changes the Stat of the parent': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.create('/a/b')
    await a.setData('/a/b', 'x')
    await a.delete('/a', 5)
    await a.delete('/a')
    await a.delete('/a/b', 0)
    await a.exists('/a')
    await a.delete('/a/b', 1)
    await a.exists('/a')
    await a.delete('/a/b', 1)
    await a.delete('/a', 0)
    await a.exists('/a')
    await a.exists('/')
    await a.close()
  },

  'delete of an ephemeral node is not undone by the end of its session': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/e', { flags: CreateMode.EPHEMERAL })
    await s.settle()
    await b.delete('/e')
    await b.create('/e', { data: 'another' })
    await a.close()
    await s.settle()
    await b.getData('/e')
    await b.exists('/')
    await b.close()
  },

  'every operation on a missing node fails with NoNode': async (s) => {
    const a = await s.open()
    await a.exists('/no')
    await a.getData('/no')
    await a.getChildren('/no')
    await a.getChildren2('/no')
    await a.getACL('/no')
    await a.setData('/no', 'x', 7)
    await a.delete('/no', 7)
    await a.setACL('/no', noRights, 7)
    await a.sync('/no')
    await a.close()
  },

  'every operation without permission fails with NoAuth, before versions are checked': async (s) => {
    const a = await s.open()
    await a.create('/a', { acl: noRights })
    await a.getData('/a')
    await a.getChildren('/a')
    await a.getChildren2('/a')
    await a.exists('/a')
    await a.getACL('/a')
    await a.setData('/a', 'x', 7)
    await a.create('/a/b')
    await a.setACL('/a', noRights, 7)
    await a.setACL('/a', noRights, 0)
    await a.create('/p')
    await a.create('/p/c')
    await a.setACL('/p', noRights)
    await a.delete('/p/c', 7)
    await a.delete('/p/none')
    await a.close()
  },

  'every operation answers to an invalid path': async (s) => {
    const a = await s.open()
    await a.create('/a')
    for (const path of [null, '', 'a', '/a/', '/a//b', '/.', '/a\u0001']) {
      // Reads take an empty path as the root, which differs between runs.
      if (path !== '') {
        await a.exists(path)
        await a.getData(path)
        await a.getChildren(path)
        await a.getChildren2(path)
        await a.getACL(path)
      }
      await a.setData(path)
      await a.delete(path)
      await a.setACL(path, noRights)
      await a.sync(path)
      await a.ping()
    }
    await a.close()
  },

  'the built-in nodes can be read, but not changed': async (s) => {
    const a = await s.open({ isBelowRoot: false })
    await a.delete('/')
    await a.delete('/', 77)
    await a.getChildren('/zookeeper')
    await a.getACL('/zookeeper')
    await a.getData('/zookeeper')
    await a.getChildren2('/zookeeper')
    // Without its Stat, which the quotas of other scenarios have changed.
    await a.getChildren('/zookeeper/quota')
    await a.setData('/zookeeper/config')
    await a.delete('/zookeeper')
    await a.delete('/zookeeper/quota')
    await a.delete('/zookeeper/config', 77)
    await a.setACL('/zookeeper', noRights, 77)
    await a.close()
  },

  'reads take the empty path as the root': async (s) => {
    const a = await s.open()
    const { getData, getChildren2, exists, getACL } = operations
    for (const { opCode } of [getData, getChildren2, exists]) {
      const request = { path: '', watch: false }
      const reply = await a.connection.call({ type: 'request', opCode, xid: 100 + opCode, request } as RequestMessage)
      s.note(`opcode ${opCode}`, { field: 'err', value: reply?.err })
    }
    const acl = await a.connection.call({ type: 'request', ...getACL, op: 'getACL', xid: 99, request: { path: '' } })
    s.note('getACL', { value: acl?.op === 'getACL' ? acl.response?.acl : acl?.err })
    await a.close()
  },

  'getChildren and getChildren2 list the same, with the Stat of the parent': async (s) => {
    const a = await s.open()
    await a.getChildren('/')
    for (const name of ['b', 'a', 'c']) await a.create(`/${name}`)
    await a.create('/a/deeper')
    await a.getChildren('/')
    await a.getChildren2('/')
    await a.delete('/b')
    await a.getChildren2('/')
    await a.getChildren2('/c')
    await a.close()
  },

  'sync lets a follower read what is committed': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a', { data: '0' })
    for (let i = 1; i <= 3; i++) {
      await a.setData('/a', `${i}`)
      await b.sync('/a')
      await b.getData('/a')
    }
    await Promise.all([a.setData('/a', 'last'), a.sync('/'), a.getData('/a')])
    await a.close()
    await b.close()
  },

  'getEphemerals, getAllChildrenNumber and whoAmI answer': {
    needs: ['superuser'],
    play: async (s) => {
      const a = await s.open()
      await a.create('/a')
      await a.create('/a/b', { flags: CreateMode.EPHEMERAL })
      await a.create('/ab', { flags: CreateMode.EPHEMERAL })
      for (const path of ['/', '/a', '/a/b', '/none', null]) await a.call('getAllChildrenNumber', { path })
      for (const prefixPath of ['/', '/a', '/a/', '/ab', '/none', '', ' ', null]) {
        await a.call('getEphemerals', { prefixPath })
      }
      const b = await s.open()
      await b.call('getEphemerals', { prefixPath: '/' })
      await a.create('/closed', { acl: noRights })
      await a.call('getAllChildrenNumber', { path: '/closed' })
      for (const user of ['tom:pass', s.superUser]) {
        await a.auth('digest', user)
        s.needsClientAddress()
        await a.call('whoAmI', undefined)
      }
      await a.close()
      await b.close()
    },
  },
})

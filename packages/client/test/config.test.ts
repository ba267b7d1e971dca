import { GetDataResponse, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { connected, nodeData, outcome, VirtualWorld } from './support/index.ts'

const TEXT = 'server.1=zk1:2888:3888:participant;0.0.0.0:2181\nversion=a'

test('ZooKeeper.getConfig reads the config node of the whole tree, whatever the chroot', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  const read = outcome(zk.getConfig())
  const request = await connection.expect(OpCode.getData)
  expect(request.body).toEqual({ path: '/zookeeper/config', watch: false })
  connection.reply(request, GetDataResponse, nodeData(TEXT))
  await world.settle()
  expect(read.value).toMatchObject({ config: { version: 10n, servers: [{ id: 1 }], text: TEXT } })
})

test('ZooKeeper.getConfigAndWatch delivers the next configuration', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  const read = outcome(zk.getConfigAndWatch())
  const request = await connection.expect(OpCode.getData)
  expect(request.body).toEqual({ path: '/zookeeper/config', watch: true })
  connection.reply(request, GetDataResponse, nodeData(TEXT))
  await world.settle()
  const changed = outcome(read.value.changed)
  connection.event('NodeDataChanged', '/zookeeper/config')
  await world.settle()
  expect(changed.value).toEqual({ type: 'NodeDataChanged', path: '/zookeeper/config' })
})

test('ZooKeeper.reconfig is a write of lists, resolved with the new configuration', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const joining = ['server.4=zk4:2888:3888:participant;2181', 'server.5=zk5:2888:3888:observer;2181']
  const done = outcome(zk.reconfig({ joining, leaving: [1, 2], fromConfig: 10n }))
  const request = await connection.expect(OpCode.reconfig)
  expect(request.body).toEqual({
    joiningServers: joining.join(','),
    leavingServers: '1,2',
    newMembers: null,
    curConfigId: 10n,
  })
  connection.reply(request, GetDataResponse, nodeData(TEXT))
  await world.settle()
  expect(done.value.config.servers).toHaveLength(1)

  const lost = outcome(zk.reconfig({ members: ['server.1=zk1:2888:3888', 'weight.1=2'] }))
  expect((await connection.expect(OpCode.reconfig)).body).toEqual({
    joiningServers: null,
    leavingServers: null,
    newMembers: 'server.1=zk1:2888:3888,weight.1=2',
    curConfigId: -1n,
  })
  connection.rst()
  await world.settle()
  expect(lost.error).toMatchObject({ code: 'ConnectionLoss', op: 'reconfig', outcomeUnknown: true })
})

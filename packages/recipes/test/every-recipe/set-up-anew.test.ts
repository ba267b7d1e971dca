// An ensemble that lost its data, and was set up anew: it gives the zxids again that its clients have seen.
import { connect } from '@zk/client'
import { TestServer } from '@zk/testing'
import { expect, test } from 'vitest'
import { Group, Mirror } from '../../src/index.ts'

/** A server with these settings. Whatever the data, its transactions have the same zxids. */
async function serverWith(data: string): Promise<TestServer> {
  const server = await TestServer.start({ tickTime: 500 })
  await using zk = await connect(server.connectString)
  for (const path of ['/settings', '/settings/a', `/settings/${data}`, '/workers', '/workers/one'])
    await zk.create(path, data)
  return server
}

test('Mirror and Group.watchMembers show the nodes of an ensemble that was set up anew, although their zxids are the same', async () => {
  await using before = await serverWith('old')
  await using after = await serverWith('new')
  await using zk = await connect(before.connectString, { sessionTimeout: 1_000 })
  await using mirror = await new Mirror(zk, '/settings').open()
  const told = new Map<string, string>()
  let whole = 0
  const following = (async () => {
    for await (const change of mirror.watchChanges()) {
      if (change.type === 'Ready') whole++
      else if (change.type === 'Removed') told.delete(change.path)
      else told.set(change.path, change.node.text ?? '')
      if (whole === 2) return
    }
  })()
  const lists = new Group(zk, '/workers').watchMembers()
  const textsOf = async () => (await lists.next()).value?.map(({ text }) => text)
  expect(await textsOf()).toEqual(['old'])
  const { stat } = mirror.get('/settings/a')!

  const next = textsOf()
  zk.updateServers(after.connectString)
  await before.close()
  await following
  expect(mirror.get('/settings/a')!.stat).toMatchObject({ czxid: stat.czxid, mzxid: stat.mzxid })
  expect(mirror.get('/settings/a')!.text).toBe('new')
  expect(mirror.children('/settings')).toEqual(['a', 'new'])
  expect(Object.fromEntries(told)).toEqual({ '/settings': 'new', '/settings/a': 'new', '/settings/new': 'new' })
  // The old list is stale first.
  expect(await next).toEqual(['old'])
  expect(await textsOf()).toEqual(['new'])
  await lists.return()
})

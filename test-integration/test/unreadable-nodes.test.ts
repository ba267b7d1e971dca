// Recipes beside nodes that this client may not read. Servers differ: from 3.8.4 and 3.9.2 on they do not show that such a node
// exists, and others send no events of it.
import { Barrier, Group, KeeperError, Mirror, WaitTimeoutError } from '@zk/recipes'
import { expect, test } from 'vitest'
import { newChroot, newClient, rejection } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]

describeEnsemble('Nodes that may not be read', (ensemble) => {
  async function clients() {
    const chroot = await newChroot(ensemble)
    const owner = await newClient(ensemble, { chroot, auth: [{ scheme: 'digest', auth: 'owner:secret' }] })
    return { owner, zk: await newClient(ensemble, { chroot }) }
  }

  test('Group lists such a member beside the others, and waits for its name', async () => {
    const { owner, zk } = await clients()
    // A recipe gives its acl to the path that it creates, too.
    await zk.create('/group')
    const me = await new Group(owner, '/group', { acl }).join({ name: 'secret', data: '1' })
    const group = new Group(zk, '/group')
    await group.join({ name: 'open', data: '2' })
    const members = group.watchMembers()
    const { value } = await members.next()
    for (const list of [value, await group.members()]) {
      expect(list!.map(({ name, text }) => [name, text])).toEqual([
        ['open', '2'],
        ['secret', ''],
      ])
      expect(KeeperError.is(list![1]!.error, 'NoAuth')).toBe(true)
    }
    expect(WaitTimeoutError.is(await rejection(group.join({ name: 'secret', timeout: 500 })))).toBe(true)
    const joining = group.join({ name: 'secret', data: '3' })
    await me.release()
    expect((await joining).state.name).toBe('present')
    await members.return()
  })

  test('Mirror shows such a node without data, and goes on when its own root is one, until it may be read again', async () => {
    const { owner, zk } = await clients()
    await zk.create('/tree', 'root')
    await zk.create('/tree/open', '1')
    await owner.create('/tree/secret', '2', { acl })
    await using mirror = await new Mirror(zk, '/tree').open()
    expect(mirror.children('/tree').sort()).toEqual(['open', 'secret'])
    expect([mirror.get('/tree/open')?.text, mirror.get('/tree/secret')?.data]).toEqual(['1', undefined])
    await owner.setACL('/tree', acl)
    await using hidden = await new Mirror(zk, '/tree').open()
    expect([hidden.size, hidden.get('/tree')?.data]).toEqual([1, undefined])
    await owner.setACL('/tree', [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }])
    await owner.setData('/tree', 'again')
    await expect.poll(() => hidden.get('/tree/open')?.text).toBe('1')
    expect(hidden.get('/tree')?.text).toBe('again')
  })

  test('Barrier.wait ends when such a barrier is removed, and Barrier.remove removes it', async () => {
    const { owner, zk } = await clients()
    await new Barrier(owner, '/barrier', { acl }).set()
    const waiting = new Barrier(zk, '/barrier').wait({ timeout: 30_000 })
    await expect(new Barrier(zk, '/barrier').wait({ timeout: 300 })).rejects.toThrow('did not open')
    await new Barrier(zk, '/barrier').remove()
    await waiting
  })
})

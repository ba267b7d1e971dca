// A path with permission CREATE and without DELETE, on real servers.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Lock, type RecipeMessages } from '@zk/recipes'
import { Perms } from '@zk/wire'
import { expect, onTestFinished, test } from 'vitest'
import { newClient, refusal } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const PATH = '/locks'
const grant = (perms: number) => [{ perms, id: { scheme: 'world', id: 'anyone' } }]

describeEnsemble('a path without DELETE', (ensemble) => {
  test('Held.release rejects with NoAuth, and the next is granted once DELETE is granted', async () => {
    const holder = await newClient(ensemble)
    const next = await newClient(ensemble, { chroot: holder.chroot })
    await holder.create(PATH, '', { acl: grant(Perms.ALL - Perms.DELETE) })
    const reported: RecipeMessages['zk:orphan'][] = []
    const listener = (message: unknown) => void reported.push(message as RecipeMessages['zk:orphan'])
    subscribe('zk:orphan', listener)
    onTestFinished(() => void unsubscribe('zk:orphan', listener))
    const held = await new Lock(holder, PATH).acquire()
    const waiting = new Lock(next, PATH).acquire()
    const error = await refusal(held.release())
    expect(error).toMatchObject({ code: 'NoAuth', path: held.path })
    expect(error.message).toContain(`grant DELETE on ${PATH}`)
    expect(reported).toEqual([{ path: PATH, kind: 'lock', node: held.path, error }])
    await next.setACL(PATH, grant(Perms.ALL))
    const granted = await waiting
    expect(granted.isHeld()).toBe(true)
    await granted.release()
    expect(reported).toHaveLength(1)
  })

  test('Held.release resolves if its node was deleted before, though servers answer NoAuth', async () => {
    const zk = await newClient(ensemble)
    await zk.create(PATH, '', { acl: grant(Perms.ALL) })
    const held = await new Lock(zk, PATH).acquire()
    await zk.delete(held.path)
    await zk.setACL(PATH, grant(Perms.ALL - Perms.DELETE))
    // NoAuth from 3.6 on: servers check the permission first.
    expect(['NoAuth', 'NoNode']).toContain((await refusal(zk.delete(held.path))).code)
    await held.release()
  })
})

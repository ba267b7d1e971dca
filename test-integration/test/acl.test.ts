// The option `acl` of recipes on real servers: it covers their paths, too.
import { CREATOR_ALL_ACL } from '@zk/client'
import { KeeperError, Lock, Semaphore, type ZooKeeper } from '@zk/recipes'
import { expect, test } from 'vitest'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const PATH = '/team/report'
const as = (name: string) => [{ scheme: 'digest', auth: `${name}:secret` }]

describeEnsemble('The acl of a recipe', (ensemble) => {
  test.each([
    ['Lock', (zk: ZooKeeper) => new Lock(zk, PATH, { acl: CREATOR_ALL_ACL }), [PATH]],
    [
      'Semaphore',
      (zk: ZooKeeper) => new Semaphore(zk, PATH, { permits: 1, acl: CREATOR_ALL_ACL }),
      // Its other folder is empty now, and servers remove empty containers.
      [PATH, `${PATH}/leases`],
    ],
  ])('keeps strangers out of what %s creates, and hands over within one identity (L26)', async (_, make, folders) => {
    const chroot = await newChroot(ensemble)
    const [ann, other, stranger] = await Promise.all([
      newClient(ensemble, { chroot, auth: as('ann') }),
      newClient(ensemble, { chroot, auth: as('ann') }),
      newClient(ensemble, { chroot, auth: as('bob') }),
    ])
    const held = await make(ann).acquire()
    await stranger.sync('/')
    for (const path of ['/team', ...folders]) {
      await expect(stranger.create(`${path}/x`), path).rejects.toMatchObject({ code: 'NoAuth' })
    }
    await expect(stranger.delete(held.path)).rejects.toMatchObject({ code: 'NoAuth' })
    const refused = await make(stranger)
      .acquire()
      .catch((error: unknown) => error)
    expect(KeeperError.is(refused, 'NoAuth')).toBe(true)
    const waiting = make(other).acquire()
    await held.release()
    await (await waiting).release()
  })
})

// Which sessions an ACL permits, by its scheme. x509 and sasl, which need configured servers, are in security.test.ts.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ACL, Perms, type ZooKeeper } from '@zk/client'
import { caughtUp, newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const tom = 'tom:cat'
/** DigestAuthenticationProvider.generateDigest */
const tomsDigest = `tom:${createHash('sha1').update(tom).digest('base64')}`

const { READ, WRITE, ALL } = Perms

interface Claim {
  readonly what: string
  readonly acl: (address: string) => ACL
  /** What the owner (user tom) may do, and what another session from the same address may do. */
  readonly owner: string
  readonly other: string
}

const claims: readonly Claim[] = [
  { what: 'world with all rights', acl: () => acl(ALL, 'world', 'anyone'), owner: 'rw', other: 'rw' },
  { what: 'world that may read', acl: () => acl(READ, 'world', 'anyone'), owner: 'r', other: 'r' },
  { what: 'world that may write', acl: () => acl(WRITE, 'world', 'anyone'), owner: 'w', other: 'w' },
  { what: 'auth', acl: () => acl(ALL, 'auth', ''), owner: 'rw', other: '' },
  { what: 'digest of the owner', acl: () => acl(ALL, 'digest', tomsDigest), owner: 'rw', other: '' },
  { what: 'digest of the owner, to read', acl: () => acl(READ, 'digest', tomsDigest), owner: 'r', other: '' },
  { what: 'digest of an unknown user', acl: () => acl(ALL, 'digest', 'no:body'), owner: '', other: '' },
  { what: 'ip of ours', acl: (address) => acl(ALL, 'ip', address), owner: 'rw', other: 'rw' },
  { what: 'ip of our network', acl: (address) => acl(READ, 'ip', `${address}/24`), owner: 'r', other: 'r' },
  { what: 'ip of others', acl: () => acl(ALL, 'ip', '203.0.113.7'), owner: '', other: '' },
  { what: 'ip of a network of others', acl: () => acl(ALL, 'ip', '203.0.113.0/24'), owner: '', other: '' },
]

function acl(perms: number, scheme: string, id: string): ACL {
  return { perms, id: { scheme, id } }
}

describeEnsemble('ACL schemes', (ensemble) => {
  test.each(claims)('ZooKeeper.create with $what lets the owner do "$owner", others "$other"', async (claim) => {
    const chroot = await newChroot(ensemble)
    const owner = await newClient(ensemble, { chroot, auth: [{ scheme: 'digest', auth: tom }] })
    const other = await newClient(ensemble, { chroot, auth: [{ scheme: 'digest', auth: 'eve:cat' }] })
    const address = (await addressOf(owner)) ?? ''
    await owner.create('/node', '', { acl: [claim.acl(address)] })
    await caughtUp(other)
    expect([await rightsOf(owner), await rightsOf(other)]).toEqual([claim.owner, claim.other])
  })

  test.each(['sasl', 'x509', 'unheard-of'])(
    'ZooKeeper.create with the scheme %s, which the servers are not configured for, fails with InvalidACL',
    async (scheme) => {
      const zk = await newClient(ensemble)
      await expect(zk.create('/node', '', { acl: [acl(ALL, scheme, 'tom')] })).rejects.toMatchObject({
        code: 'InvalidACL',
        outcomeUnknown: false,
      })
      expect(await zk.exists('/node')).toBeUndefined()
    },
  )
})

/** Our address as the servers see it. */
async function addressOf(zk: ZooKeeper): Promise<string | undefined> {
  return (await zk.whoAmI()).find(({ authScheme }) => authScheme === 'ip')?.user
}

async function rightsOf(zk: ZooKeeper): Promise<string> {
  const [read, written] = await Promise.allSettled([zk.getData('/node'), zk.setData('/node', '')])
  for (const each of [read, written]) {
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'NoAuth', outcomeUnknown: false })
  }
  return `${read.status === 'fulfilled' ? 'r' : ''}${written.status === 'fulfilled' ? 'w' : ''}`
}

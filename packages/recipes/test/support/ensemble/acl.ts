// Who may do what (ZooKeeperServer.checkACL, PrepRequestProcessor.fixupACL, DigestAuthenticationProvider).
import { createHash } from 'node:crypto'
import type { ACL, Id } from '@zk/wire'
import { Refusal } from './refusal.ts'

const ANYONE = { scheme: 'world', id: 'anyone' }

/** The identity that a credential `user:password` of the scheme `digest` stands for. */
export function digestId(credential: string): Id {
  const [user] = credential.split(':')
  return { scheme: 'digest', id: `${user}:${createHash('sha1').update(credential).digest('base64')}` }
}

export function check(acl: readonly ACL[], perm: number, identities: readonly Id[]): void {
  const allowed = acl.filter(({ perms }) => (perms & perm) !== 0).map(({ id }) => id)
  if (!allowed.some((id) => [ANYONE, ...identities].some((identity) => isSame(id, identity)))) {
    throw new Refusal('NoAuth')
  }
}

/** The ACL with the creator's identities in place of `auth`. */
export function expand(acl: readonly ACL[], identities: readonly Id[]): readonly ACL[] {
  const expanded = acl.flatMap(({ perms, id }) =>
    id.scheme === 'auth' ? identities.map((identity) => ({ perms, id: identity })) : [{ perms, id }],
  )
  if (expanded.length === 0) throw new Refusal('InvalidACL')
  return expanded
}

function isSame(one: Id, other: Id): boolean {
  return one.scheme === other.scheme && one.id === other.id
}

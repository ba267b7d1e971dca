// Which ids have which rights to a node, and which ACLs a node may get.
import { type ACL, ErrorCode, type Id } from '@zk/wire'
import type { Release } from './releases.ts'
import { DEFAULT_SCHEMES, schemes } from './schemes.ts'

/** Whether a client with these ids has at least one of the rights `perms` (ZooKeeperServer.checkACL). */
export function allowed(acl: readonly ACL[], perms: number, ids: readonly Id[]): boolean {
  if (acl.length === 0) return true
  for (const { scheme } of ids) if (scheme === 'super') return true
  for (const { perms: granted, id } of acl) {
    if ((granted & perms) === 0) continue
    if (id.scheme === 'world' && id.id === 'anyone') return true
    const scheme = schemes.get(id.scheme ?? '')
    if (scheme === undefined) continue
    for (const own of ids) if (own.scheme === id.scheme && scheme.matches(own.id ?? '', id.id ?? '')) return true
  }
  return false
}

/**
 * The ACL that a node gets if a request asks for `acl`, or the code with which the request is refused
 * (PrepRequestProcessor.fixupACL).
 */
export function fixupACL(
  acl: readonly ACL[] | null,
  ids: readonly Id[],
  {
    release,
    schemes: registered = DEFAULT_SCHEMES,
  }: { readonly release: Release; readonly schemes?: ReadonlySet<string> | undefined },
): readonly ACL[] | number {
  if (acl === null && release.failsAtNullACL) return ErrorCode.MarshallingError
  if (acl === null || acl.length === 0) return ErrorCode.InvalidACL
  const unique = withoutDuplicates(acl)
  if (unique === undefined) return ErrorCode.MarshallingError
  const fixed: ACL[] = []
  for (const entry of unique) {
    const { scheme, id } = entry.id
    if (scheme === null) return ErrorCode.InvalidACL
    if (scheme === 'auth') {
      // The id of `auth` is ignored: `auth` stands for the ids that the client has proved with a secret.
      const own = ids.filter((id) => schemes.get(id.scheme ?? '')?.isAuthenticated)
      if (own.length === 0) return ErrorCode.InvalidACL
      for (const id of own) fixed.push({ perms: entry.perms, id })
      continue
    }
    const provider = registered.has(scheme) ? schemes.get(scheme) : undefined
    if (scheme !== 'world' && provider === undefined) return ErrorCode.InvalidACL
    // ZooKeeper throws a NullPointerException here, which nothing catches.
    if (id === null) return ErrorCode.MarshallingError
    if (!(provider === undefined ? id === 'anyone' : provider.isValid(id, release))) return ErrorCode.InvalidACL
    fixed.push(entry)
  }
  return fixed
}

/** The first of all checks. Returns undefined if ZooKeeper would compare two ACLs of which one has null (ACL.equals). */
function withoutDuplicates(acl: readonly ACL[]): readonly ACL[] | undefined {
  const unique: ACL[] = []
  for (const entry of acl) {
    const { perms, id } = entry
    let isNew = true
    for (const other of unique) {
      if (other.perms !== perms) continue
      if (id.scheme === null) return undefined
      if (other.id.scheme !== id.scheme) continue
      if (id.id === null) return undefined
      if (other.id.id === id.id) {
        isNew = false
        break
      }
    }
    if (isNew) unique.push(entry)
  }
  return unique
}

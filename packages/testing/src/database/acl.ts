// The rights to a node, and which ACLs it may get.
import { type ACL, ErrorCode, type Id } from '@zk/wire'
import { DEFAULT_SCHEMES, schemes } from './schemes.ts'

/** Whether a client with these ids may do any of `perms` (ZooKeeperServer.checkACL). */
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
 * The ACL that a node gets for the one in a request, or the code with which it is refused (PrepRequestProcessor.fixupACL).
 */
export function fixupACL(
  acl: readonly ACL[] | null,
  ids: readonly Id[],
  registered: ReadonlySet<string> = DEFAULT_SCHEMES,
): readonly ACL[] | number {
  if (acl === null || acl.length === 0) return ErrorCode.InvalidACL
  const unique = withoutDuplicates(acl)
  if (unique === undefined) return ErrorCode.MarshallingError
  const fixed: ACL[] = []
  for (const entry of unique) {
    const { scheme, id } = entry.id
    if (scheme === null) return ErrorCode.InvalidACL
    if (scheme === 'auth') {
      // Its id is ignored: it stands for the ids that the client has proved with a secret.
      const own = ids.filter((id) => schemes.get(id.scheme ?? '')?.isAuthenticated)
      if (own.length === 0) return ErrorCode.InvalidACL
      for (const id of own) fixed.push({ perms: entry.perms, id })
      continue
    }
    const provider = registered.has(scheme) ? schemes.get(scheme) : undefined
    if (scheme !== 'world' && provider === undefined) return ErrorCode.InvalidACL
    // ZooKeeper throws a NullPointerException here, and catches it nowhere.
    if (id === null) return ErrorCode.MarshallingError
    if (!(provider === undefined ? id === 'anyone' : provider.isValid(id))) return ErrorCode.InvalidACL
    fixed.push(entry)
  }
  return fixed
}

/** This comes before all other checks. Undefined where two ACLs must be compared and one has null to compare (ACL.equals). */
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

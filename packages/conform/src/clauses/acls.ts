// Entries of ACLs, and two users with their digests.
import { type ACL, Perms } from '@zk/wire'

export function entry(perms: number, scheme: string | null, id: string | null): ACL {
  return { perms, id: { scheme, id } }
}

/** An ACL that gives everyone these permissions. */
export function everyone(perms: number): readonly ACL[] {
  return [entry(perms, 'world', 'anyone')]
}

/** An ACL that gives everyone all permissions but these. */
export function everyoneBut(perms: number): readonly ACL[] {
  return everyone(Perms.ALL & ~perms)
}

/** `id` is `name:BASE64(SHA1(login))`. */
interface User {
  /** What the client sends. */
  readonly login: string
  /** What is in ACLs. */
  readonly id: string
}

export const tom: User = { login: 'tom:pass', id: 'tom:Ct7XQYvOv+9G4czWbN5uuiJTw0c=' }
export const jerry: User = { login: 'jerry:pass', id: 'jerry:6/K9EsqBrTAc7BJ+yl56Ui+B/qk=' }

// The identities of a client: the first one of its connection, and those that it proves by auth packets.
import { generateDigest, type Id } from '@zk/wire'
import { hashCode, spread } from './java-hash-set.ts'
import type { Release } from './releases.ts'
import { sha1 } from './sha1.ts'

/** The ids of a connection before any auth packet. */
export const firstAuthInfo = (address: string): readonly Id[] => [{ scheme: 'ip', id: address }]

/**
 * The ids that an auth packet adds. undefined if it is refused: then the answer is -115, and the connection is closed after
 * it. A password is never wrong, because another password gives another id. `superDigest` (`super:BASE64`) is the id of the
 * superuser.
 */
export function authenticate(
  packet: { readonly scheme: string | null; readonly auth: Uint8Array | null },
  address: string,
  superDigest?: string,
): readonly Id[] | undefined {
  if (packet.scheme === 'ip') return firstAuthInfo(address)
  if (packet.scheme !== 'digest' || packet.auth === null) return undefined
  const id = generateDigest(new TextDecoder().decode(packet.auth), sha1)
  const own = { scheme: 'digest', id }
  return id === superDigest ? [{ scheme: 'super', id: '' }, own] : [own]
}

/** Adds ids to those of a connection, each once. The order is that of a real server (ServerCnxn.authInfo). */
export function addAuthInfo(ids: readonly Id[], added: readonly Id[], release: Release): readonly Id[] {
  const all = [...ids]
  for (const id of added) if (!all.some((known) => equal(known, id))) all.push(id)
  if (release.ordersIdentities) return all
  let capacity = 16
  while (all.length * 4 >= capacity * 3) capacity *= 2
  return all.sort((a, b) => bin(a, capacity) - bin(b, capacity))
}

const equal = (a: Id, b: Id) => a.scheme === b.scheme && a.id === b.id

/** The place in a table of this size: by Id.hashCode. */
function bin({ scheme, id }: Id, capacity: number): number {
  const hash = Math.imul(37, Math.imul(37, 17) + hashCode(scheme ?? '')) + hashCode(id ?? '')
  return spread(hash | 0) & (capacity - 1)
}

// The leader deletes containers whose children are gone, and nodes whose TTL is over (ContainerManager).
import { type DataTree, ttlOf } from '../database/index.ts'
import type { ServerRequest } from '../server/request.ts'

/** The requests with which the leader deletes nodes. `wallNow` is in ms since the epoch. */
export function* removals(tree: DataTree, member: string, wallNow: number): Generator<ServerRequest> {
  for (const path of candidates(tree, BigInt(Math.floor(wallNow)))) {
    const rest = new TextEncoder().encode(path)
    const message = { type: 'request', op: 'deleteContainer', opCode: 20, xid: 0, request: undefined, rest } as const
    yield { sessionId: 0n, message, authInfo: [], owner: member, connection: undefined }
  }
}

function* candidates(tree: DataTree, now: bigint): Generator<string> {
  for (const path of tree.containers) {
    const node = tree.get(path)
    // A container that never had a child is kept: it may be new.
    if (node !== undefined && node.childCount === 0 && node.cversion > 0) yield path
  }
  for (const path of tree.ttls) {
    const node = tree.get(path)
    if (node === undefined || node.childCount > 0) continue
    // The TTL counts from the last setData. Changes of the children do not restart it.
    const ttl = ttlOf(node.ephemeralOwner) ?? 0n
    if (ttl !== 0n && now - node.mtime > ttl) yield path
  }
}

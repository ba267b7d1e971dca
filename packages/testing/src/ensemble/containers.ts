// Containers whose children have gone, and nodes whose TTL is over, are removed by the leader (ContainerManager).
import { type DataTree, ttlOf } from '../database/index.ts'
import type { ServerRequest } from '../server/request.ts'

/** What the leader asks of itself, at this time of the wall clock in ms. */
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
    // One that never had a child stays: it may have been made a moment ago.
    if (node !== undefined && node.childCount === 0 && node.cversion > 0) yield path
  }
  for (const path of tree.ttls) {
    const node = tree.get(path)
    if (node === undefined || node.childCount > 0) continue
    // Since its data was set: what its children did does not count.
    const ttl = ttlOf(node.ephemeralOwner) ?? 0n
    if (ttl !== 0n && now - node.mtime > ttl) yield path
  }
}

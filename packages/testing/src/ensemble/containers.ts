// Containers whose children have gone are removed by the leader (ContainerManager).
import type { DataTree } from '../database/index.ts'
import type { ServerRequest } from '../server/request.ts'

/** What the leader asks of itself. */
export function* emptyContainers(tree: DataTree, member: string): Generator<ServerRequest> {
  for (const path of tree.containers) {
    const node = tree.get(path)
    // One that never had a child stays: it may have been made a moment ago.
    if (node === undefined || node.childCount > 0 || node.cversion === 0) continue
    const rest = new TextEncoder().encode(path)
    const message = { type: 'request', op: 'deleteContainer', opCode: 20, xid: 0, request: undefined, rest } as const
    yield { sessionId: 0n, message, authInfo: [], owner: member, connection: undefined }
  }
}

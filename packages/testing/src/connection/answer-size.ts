import type { RequestMessage } from '@zk/wire'
import type { DataTree } from '../database/index.ts'

/** A name of a node, in bytes, more or less. */
const NAME = 32

/** How many bytes the answer will have, about, where that may be many; `written` is the most that is written before it. */
export function answerSize({ op, request }: RequestMessage, tree: DataTree, written: number): number {
  if (request === undefined) return 0
  if (op === 'getData') return Math.max(tree.get(request.path ?? '')?.data?.byteLength ?? 0, written)
  if (op === 'getChildren' || op === 'getChildren2') return (tree.get(request.path ?? '')?.children.size ?? 0) * NAME
  return op === 'getEphemerals' ? tree.ephemeralsCount * NAME : 0
}

/** Of the longest data that the request writes to a node, in bytes. */
export function dataSize({ op, request }: RequestMessage): number {
  if (op !== 'multi') return lengthOf(request)
  let longest = 0
  for (const part of request ?? []) longest = Math.max(longest, lengthOf(part.request))
  return longest
}

function lengthOf(request: object | undefined): number {
  return request !== undefined && 'data' in request && request.data instanceof Uint8Array ? request.data.byteLength : 0
}

import { OpCode, type RequestMessage } from '@zk/wire'
import type { DataTree } from '../database/index.ts'

/** The approximate size of a node's name, in bytes. */
const NAME = 32

/** The expected size of an answer in bytes; 0 if it is always small. `written` is the longest data of earlier writes. */
export function answerSize({ op, request }: RequestMessage, tree: DataTree, written: number): number {
  if (request === undefined) return 0
  if (op === 'getData') return dataOf(request.path, tree, written)
  if (op === 'getChildren' || op === 'getChildren2') return childrenOf(request.path, tree)
  if (op === 'multiRead') {
    let size = 0
    for (const { type, request: part } of request) {
      size += type === OpCode.getData ? dataOf(part.path, tree, written) : childrenOf(part.path, tree)
    }
    return size
  }
  return op === 'getEphemerals' ? tree.ephemeralsCount * NAME : 0
}

const dataOf = (path: string | null, tree: DataTree, written: number) =>
  Math.max(tree.get(path ?? '')?.data?.byteLength ?? 0, written)

const childrenOf = (path: string | null, tree: DataTree) => (tree.get(path ?? '')?.children.size ?? 0) * NAME

/** The size of the longest data that the request writes to a node, in bytes. */
export function dataSize({ op, request }: RequestMessage): number {
  if (op !== 'multi') return lengthOf(request)
  let longest = 0
  for (const part of request ?? []) longest = Math.max(longest, lengthOf(part.request))
  return longest
}

function lengthOf(request: object | undefined): number {
  return request !== undefined && 'data' in request && request.data instanceof Uint8Array ? request.data.byteLength : 0
}

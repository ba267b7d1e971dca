import { type MultiOp, OpCode } from '@zk/wire'
import { isKnownMode, modeOf } from './create-mode.ts'
import type { NodeOp } from './prepare-node.ts'
import type { Release } from './releases.ts'

/** Whether the operation is a read of a multiRead. In a multi it makes the whole multi fail. */
export const isRead = ({ type }: MultiOp): boolean => type === OpCode.getData || type === OpCode.getChildren

/** Whether a server can read the operation. If it cannot, the multi fails with a MarshallingError before any other check. */
export function isReadable(op: MultiOp, { readsFlagsInMulti }: Release): boolean {
  if (isRead(op) || op.request.path === null) return false
  if (!readsFlagsInMulti || !('flags' in op.request) || op.type === OpCode.createTTL) return true
  const { acl, flags } = op.request
  return acl !== null && isKnownMode(flags) && !modeOf(flags).isTTL
}

/**
 * An operation of a multi as the server sees it (MultiOperationRecord, Op). Returns undefined for an operation that makes
 * the whole multi fail with a MarshallingError.
 */
export function nodeOp({ type, request }: MultiOp, { readsFlagsInMulti }: Release): NodeOp | undefined {
  switch (type) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer: {
      const mode = modeOf(request.flags)
      if (mode.isTTL) return undefined
      // Where the flags are not read at first, they alone decide the kind of create, not the opcode.
      const isContainer = mode.isContainer || (readsFlagsInMulti && type === OpCode.createContainer)
      return { op: isContainer ? 'createContainer' : 'create', request }
    }
    case OpCode.createTTL: {
      const mode = modeOf(request.flags)
      if (mode.isTTL) return { op: 'createTTL', request }
      return { op: mode.isContainer ? 'createContainer' : 'create', request }
    }
    case OpCode.delete:
      return { op: 'delete', request }
    case OpCode.setData:
      return { op: 'setData', request }
    case OpCode.check:
      return { op: 'check', request }
    case OpCode.getData:
    case OpCode.getChildren:
      return undefined
  }
}

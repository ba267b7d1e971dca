import { type MultiOp, OpCode } from '@zk/wire'
import { modeOf } from './create-mode.ts'
import type { NodeOp } from './prepare-node.ts'

/** Whether the operation is a read of a multiRead. In a multi it makes the whole multi fail. */
export const isRead = ({ type }: MultiOp): boolean => type === OpCode.getData || type === OpCode.getChildren

/**
 * An operation of a multi as the server sees it (MultiOperationRecord, Op). Returns undefined for an operation that makes
 * the whole multi fail with a MarshallingError.
 */
export function nodeOp({ type, request }: MultiOp): NodeOp | undefined {
  switch (type) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer: {
      // The flags decide the kind of create, not the opcode. So create2 is answered like create (ZOOKEEPER-4026).
      const mode = modeOf(request.flags)
      return mode.isTTL ? undefined : { op: mode.isContainer ? 'createContainer' : 'create', request }
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

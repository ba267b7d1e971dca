// The requests that a server knows, and which server executes them.
import { OpCode, operationName } from '@zk/wire'
import type { Release } from './releases.ts'

const writes: ReadonlySet<number> = new Set([
  OpCode.create,
  OpCode.create2,
  OpCode.createTTL,
  OpCode.createContainer,
  OpCode.delete,
  OpCode.deleteContainer,
  OpCode.setData,
  OpCode.setACL,
  OpCode.reconfig,
  OpCode.check,
  OpCode.multi,
  OpCode.createSession,
  OpCode.closeSession,
])

const others: ReadonlySet<number> = new Set([
  OpCode.exists,
  OpCode.getData,
  OpCode.getACL,
  OpCode.getChildren,
  OpCode.getChildren2,
  OpCode.multiRead,
  OpCode.getAllChildrenNumber,
  OpCode.getEphemerals,
  OpCode.whoAmI,
  OpCode.sync,
  OpCode.ping,
  OpCode.setWatches,
  OpCode.setWatches2,
  OpCode.addWatch,
  OpCode.checkWatches,
  OpCode.removeWatches,
])

/** Whether the request becomes a transaction (Request.isQuorum). */
export const isWrite = (opCode: number): boolean => writes.has(opCode)

/** Whether a follower sends the request to the leader (FollowerRequestProcessor). */
export const goesToLeader = (opCode: number): boolean => writes.has(opCode) || opCode === OpCode.sync

/**
 * Whether the server knows this operation. An unknown one is answered -6 at once, before earlier requests that are still
 * under way, and its connection is closed (Request.isValid, UnimplementedRequestProcessor). auth and sasl are handled
 * earlier.
 */
export function isKnown(opCode: number, release: Release): boolean {
  if (!writes.has(opCode) && !others.has(opCode)) return false
  if (opCode === OpCode.check && release.checksInMultiOnly) return false
  const name = operationName(opCode)
  return name !== undefined && release.operations.has(name)
}

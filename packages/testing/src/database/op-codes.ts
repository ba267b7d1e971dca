// The requests that a server knows, and which server executes them.
import { OpCode, operationName, operations } from '@zk/wire'

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

/** A line of ZooKeeper releases. It stands for the last release of the line. */
export type ServerVersion = '3.5' | '3.6' | '3.7' | '3.8' | '3.9'

/**
 * Whether the server knows this operation. An unknown one is answered -6 at once, before earlier requests that are still
 * under way, and its connection is closed (Request.isValid, UnimplementedRequestProcessor). auth and sasl are handled
 * earlier.
 */
export function isKnown(opCode: number, version: ServerVersion): boolean {
  if (!writes.has(opCode) && !others.has(opCode)) return false
  // From 3.9.3 and 3.8.5 on, check is only allowed in a multi (ZOOKEEPER-2623). Our '3.8' behaves as 3.8.0.
  if (opCode === OpCode.check && version === '3.9') return false
  const name = operationName(opCode)
  return name !== undefined && minorOf(operations[name].since) <= minorOf(version)
}

const minorOf = (version: string) => Number(version.split('.')[1])

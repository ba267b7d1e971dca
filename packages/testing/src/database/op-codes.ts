// Which requests a server knows, and which server does them.
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

/** It becomes a transaction (Request.isQuorum). */
export const isWrite = (opCode: number): boolean => writes.has(opCode)

/** A follower has the leader do it (FollowerRequestProcessor). */
export const goesToLeader = (opCode: number): boolean => writes.has(opCode) || opCode === OpCode.sync

/** A line of ZooKeeper's releases, of which the last is meant. */
export type ServerVersion = '3.5' | '3.6' | '3.7' | '3.8' | '3.9'

/**
 * Any other request is answered -6 at once, ahead of those that are still on their way, and its connection closed
 * (Request.isValid, UnimplementedRequestProcessor). auth and sasl never come this far.
 */
export function isKnown(opCode: number, version: ServerVersion): boolean {
  if (!writes.has(opCode) && !others.has(opCode)) return false
  // From 3.9.3 on (and 3.8.5, but ours is 3.8.0) it is for a multi alone: ZOOKEEPER-2623.
  if (opCode === OpCode.check && version === '3.9') return false
  const name = operationName(opCode)
  return name !== undefined && minorOf(operations[name].since) <= minorOf(version)
}

const minorOf = (version: string) => Number(version.split('.')[1])

// Which requests a server knows, and who does them.
import { OpCode } from '@zk/wire'

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
  OpCode.getAllChildrenNumber,
  OpCode.getEphemerals,
  OpCode.whoAmI,
  OpCode.sync,
  OpCode.ping,
  OpCode.setWatches,
  OpCode.checkWatches,
  OpCode.removeWatches,
])

/** It becomes a transaction (Request.isQuorum). */
export const isWrite = (opCode: number): boolean => writes.has(opCode)

/** A follower has the leader do it (FollowerRequestProcessor). */
export const goesToLeader = (opCode: number): boolean => writes.has(opCode) || opCode === OpCode.sync

/**
 * Any other request is answered -6 at once, ahead of those that are still on their way, and its connection closed
 * (Request.isValid, UnimplementedRequestProcessor). auth and sasl never come this far. Ours does not know multiRead,
 * setWatches2 and addWatch either.
 */
export const isKnown = (opCode: number): boolean => writes.has(opCode) || others.has(opCode)

import { ErrorCode, OpCode, operationName, operations } from '@zk/wire'

/** Says which servers know an operation: the hint in an `Unimplemented` error. */
function needsOf(opCode: number): string | undefined {
  const name = operationName(opCode)
  return name && `servers know it from ${operations[name].since} on${conditions[opCode] ?? ''}`
}

/** Like `needsOf`, for an operation that some servers in use lack; undefined if all servers know it. */
export function needsOfLater(opCode: number): string | undefined {
  const name = operationName(opCode)
  return name !== undefined && operations[name].since >= '3.5' ? needsOf(opCode) : undefined
}

/** Says what is missing if a server answers an operation with this code; undefined if that is not known. */
export function needsOfAnswer(opCode: number, code: number): string | undefined {
  if (code === ErrorCode.Unimplemented) return needsOf(opCode)
  if (code === ErrorCode.NoAuth) return rights[opCode]
  // WatchManagerOptimized throws on persistent watches (ZOOKEEPER-1416), and the server answers as if it could not read the
  // request.
  const isOptimized = code === ErrorCode.MarshallingError && opCode === OpCode.addWatch
  return isOptimized
    ? 'servers whose zookeeper.watchManagerName is WatchManagerOptimized have no persistent watches'
    : undefined
}

/** What servers need for a request of this size. */
export function needsOfSize(size: number): string {
  return `it needs a jute.maxbuffer of ${size} bytes or more`
}

/** The rights that servers check. A node's own ACL says nothing about its deletion. */
const rights: Readonly<Record<number, string>> = {
  [OpCode.create]: 'CREATE on the parent',
  [OpCode.create2]: 'CREATE on the parent',
  [OpCode.createContainer]: 'CREATE on the parent',
  [OpCode.createTTL]: 'CREATE on the parent',
  [OpCode.delete]: 'DELETE on the parent',
  [OpCode.getData]: 'READ on the node',
  [OpCode.getChildren]: 'READ on the node',
  [OpCode.getChildren2]: 'READ on the node',
  [OpCode.getAllChildrenNumber]: 'READ on the node',
  [OpCode.check]: 'READ on the node',
  [OpCode.setData]: 'WRITE on the node',
  [OpCode.getACL]: 'READ or ADMIN on the node',
  [OpCode.setACL]: 'ADMIN on the node',
}

const conditions: Readonly<Record<number, string>> = {
  [OpCode.createTTL]: ', and only with zookeeper.extendedTypesEnabled=true',
  [OpCode.reconfig]: ', unless they are standalone',
}

import { ErrorCode, OpCode, operationName, operations } from '@zk/wire'

/** Says which servers know an operation: the hint in an `Unimplemented` error. */
export function needsOf(opCode: number): string | undefined {
  const name = operationName(opCode)
  return name && `servers know it from ${operations[name].since} on${conditions[opCode] ?? ''}`
}

/** Like `needsOf`, for an operation that some servers in use lack; undefined if all servers know it. */
export function needsOfLater(opCode: number): string | undefined {
  const name = operationName(opCode)
  return name !== undefined && operations[name].since >= '3.5' ? needsOf(opCode) : undefined
}

/** Says what a server lacks if it answers an operation with this code; undefined if the code does not say. */
export function needsOfAnswer(opCode: number, code: number): string | undefined {
  if (code === ErrorCode.Unimplemented) return needsOf(opCode)
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

const conditions: Readonly<Record<number, string>> = {
  [OpCode.createTTL]: ', and only with zookeeper.extendedTypesEnabled=true',
  [OpCode.reconfig]: ', unless they are standalone',
}

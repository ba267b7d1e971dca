import { OpCode, operationName, operations } from '@zk/wire'

/** Says which servers know an operation: the hint in an `Unimplemented` error. */
export function needsOf(opCode: number): string | undefined {
  const name = operationName(opCode)
  return name && `servers know it from ${operations[name].since} on${conditions[opCode] ?? ''}`
}

const conditions: Readonly<Record<number, string>> = {
  [OpCode.createTTL]: ', and only with zookeeper.extendedTypesEnabled=true',
  [OpCode.reconfig]: ', unless they are standalone',
}

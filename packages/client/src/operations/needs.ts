import { OpCode, operationName, operations } from '@zk/wire'
import type { Refusal } from '../session/requests/request-sizes.ts'

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

/** What servers need for a request of this size. */
export function needsOfSize(size: number): string {
  return `it needs a jute.maxbuffer of ${size} bytes or more`
}

/** Why a request of this size was not sent. */
export function needsOfRefused(bytes: number, { size, from, until }: Refusal, now: number): string {
  const after = Math.ceil(until - now)
  return (
    `it has ${bytes} bytes and was not sent; sizes from ${from} on are tried again after ${after} ms, ` +
    `because the last one that was refused had ${size} bytes`
  )
}

const conditions: Readonly<Record<number, string>> = {
  [OpCode.createTTL]: ', and only with zookeeper.extendedTypesEnabled=true',
  [OpCode.reconfig]: ', unless they are standalone',
}

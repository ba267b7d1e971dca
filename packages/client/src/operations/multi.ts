import { ErrorCode, errorName, type MultiOp, type MultiResult, OpCode, operations, ProtocolError } from '@zk/wire'
import { needsOfAnswer } from './needs.ts'
import { ErrorReply } from './error-reply.ts'
import type { Operation } from './operation.ts'
import { codecOf, copyOf, encodeParts, type Op } from './ops.ts'

/** The results of these operations, by position. */
export type MultiResults<Ops extends readonly Op<unknown>[]> = {
  [Index in keyof Ops]: Ops[Index] extends Op<infer Result> ? Result : never
}

/** Makes the operation for one list: all operations of the list happen, in order and under one zxid, or none. */
export function multi<const Ops extends readonly Op<unknown>[]>(
  ops: Ops,
): Operation<[], typeof operations.multi, MultiResults<Ops> | ErrorReply> {
  // `encode` copies the list to this variable: the caller may change its list before the reply arrives.
  let copied: readonly Op<unknown>[] = []
  let parts: readonly MultiOp[] = []
  return {
    name: 'multi',
    wire: operations.multi,
    paths: () => copied.map(({ path }) => path),
    encode: (chroot) => {
      copied = copyOf('multi', ops)
      parts = encodeParts(copied, 'write', chroot)
      return parts
    },
    result: (results, chroot) => {
      if (results.length !== copied.length) {
        throw new ProtocolError(`${results.length} results for a multi of ${copied.length} operations`)
      }
      const failure = failureOf(copied, parts, results)
      if (failure !== undefined) return failure
      return copied.map((each, index) => codecOf(each)!.result(results[index]!, chroot)) as MultiResults<Ops>
    },
  }
}

/**
 * Returns the failure of a multi; undefined if it succeeded. In a failed multi each result is an error record: 0 for the
 * operations before the failed one (they were rolled back), its own code for the failed one (which may be -2), -2 for those
 * after it.
 */
function failureOf(
  ops: readonly Op<unknown>[],
  parts: readonly MultiOp[],
  results: readonly MultiResult[],
): ErrorReply | undefined {
  const codes = results.map((result) => (result.type === OpCode.error ? result.response.err : ErrorCode.Ok))
  const isFailure = (code: number) => code !== ErrorCode.Ok
  const index = codes.findIndex((code) => isFailure(code) && code !== ErrorCode.RuntimeInconsistency)
  const failedIndex = index === -1 ? codes.findIndex(isFailure) : index
  if (failedIndex === -1) return undefined
  const names = codes.map((code) => errorName(code) ?? 'Unknown')
  const code = codes[failedIndex]!
  const needs = needsOfAnswer(parts[failedIndex]!.type, code)
  return new ErrorReply(code, { index: failedIndex, path: ops[failedIndex]?.path, results: names, needs })
}

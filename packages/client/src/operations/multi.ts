import { ErrorCode, errorName, type MultiOp, type MultiResult, OpCode, operations, ProtocolError } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import { Refusal } from '../session/request.ts'
import { type Stat, toStat } from '../stat.ts'
import { checkVersion, type Data, required, toBytes } from './arguments.ts'
import { type CreateOptions, toCreateRequest } from './create.ts'
import type { VersionOptions } from './delete.ts'
import type { Operation } from './operation.ts'

/** One operation of a `multi`, made by `op`. `Result` is what it yields there. */
export interface Op<Result> {
  readonly path: string
  readonly encode: (chroot: Chroot) => MultiOp
  readonly result: (result: MultiResult, chroot: Chroot) => Result
}

/** The results of these operations, by position. */
export type MultiResults<Ops extends readonly Op<unknown>[]> = {
  [Index in keyof Ops]: Ops[Index] extends Op<infer Result> ? Result : never
}

/** The operations that a `multi` can do. Their arguments are checked when the multi is called. */
export const op = {
  /** Without Stat: servers before 3.7.2 and 3.8.2 answer a create2 inside a multi with garbage (ZOOKEEPER-4026). */
  create: (path: string, data?: Data, options: CreateOptions = {}): Op<{ readonly path: string }> => ({
    path,
    encode: (chroot) => ({
      type: options.mode === 'CONTAINER' ? OpCode.createContainer : OpCode.create,
      request: toCreateRequest(chroot, path, data, options),
    }),
    result: (result, chroot) => {
      // A container is answered as a create2 is.
      if (result.type !== OpCode.create && result.type !== OpCode.create2) throw unexpected(result)
      return { path: chroot.relative(required(result.response.path, 'MultiResponse.path')) }
    },
  }),

  delete: (path: string, { version = -1 }: VersionOptions = {}): Op<void> => ({
    path,
    encode: (chroot) => ({
      type: OpCode.delete,
      request: { path: chroot.absolute(path), version: checkVersion(version) },
    }),
    result: (result) => {
      if (result.type !== OpCode.delete) throw unexpected(result)
    },
  }),

  setData: (path: string, data: Data, { version = -1 }: VersionOptions = {}): Op<Stat> => ({
    path,
    encode: (chroot) => ({
      type: OpCode.setData,
      request: { path: chroot.absolute(path), data: toBytes(data), version: checkVersion(version) },
    }),
    result: (result) => {
      if (result.type !== OpCode.setData) throw unexpected(result)
      return toStat(result.response.stat)
    },
  }),

  /** Fails the multi unless the node exists and has this version (-1: any). */
  check: (path: string, version = -1): Op<void> => ({
    path,
    encode: (chroot) => ({
      type: OpCode.check,
      request: { path: chroot.absolute(path), version: checkVersion(version) },
    }),
    result: (result) => {
      if (result.type !== OpCode.check) throw unexpected(result)
    },
  }),
}

/** The descriptor for one list of operations: all happen, in order and under one zxid, or none. */
export function multi<const Ops extends readonly Op<unknown>[]>(
  ops: Ops,
): Operation<[], typeof operations.multi, MultiResults<Ops> | Refusal> {
  // What was sent: the caller may use his list again before the reply is here.
  let sent: readonly Op<unknown>[] = []
  return {
    name: 'multi',
    wire: operations.multi,
    encode: (chroot) => {
      sent = [...ops]
      return sent.map((each) => each.encode(chroot))
    },
    result: (results, chroot) => {
      if (results.length !== sent.length) {
        throw new ProtocolError(`${results.length} results for a multi of ${sent.length} operations`)
      }
      const refusal = refused(sent, results)
      if (refusal !== undefined) return refusal
      return sent.map((each, index) => each.result(results[index]!, chroot)) as MultiResults<Ops>
    },
  }
}

/** In a failed multi every result is an error: 0 for what was rolled back, the culprit's code, -2 for what came after. */
function refused(ops: readonly Op<unknown>[], results: readonly MultiResult[]): Refusal | undefined {
  const codes = results.map((result) => (result.type === OpCode.error ? result.response.err : ErrorCode.Ok))
  const failed = (code: number) => code !== ErrorCode.Ok
  const index = codes.findIndex((code) => failed(code) && code !== ErrorCode.RuntimeInconsistency)
  const culprit = index === -1 ? codes.findIndex(failed) : index
  if (culprit === -1) return undefined
  const names = codes.map((code) => errorName(code) ?? 'Unknown')
  return new Refusal(codes[culprit]!, { index: culprit, path: ops[culprit]?.path, results: names })
}

function unexpected({ type }: MultiResult): ProtocolError {
  return new ProtocolError(`a multi was answered with a result of type ${type} where another was asked for`)
}

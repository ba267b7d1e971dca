import { ErrorCode, errorName, OpCode, operations, ProtocolError } from '@zk/wire'
import { KeeperError } from '../base/errors.ts'
import type { Operation } from './operation.ts'
import { codecOf, copyOf, encodeParts, type ReadOp } from './ops.ts'

/** The outcome of one read of a `multiRead`: its result, or the error with which it was refused. */
export type ReadResult<Result> =
  | { readonly value: Result; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: KeeperError }

/** The results of these reads, by position. */
export type ReadResults<Ops extends readonly ReadOp<unknown>[]> = {
  [Index in keyof Ops]: Ops[Index] extends ReadOp<infer Result> ? ReadResult<Result> : never
}

/** Makes the operation for one list of reads. Each read succeeds or fails independently of the others. */
export function multiRead<const Ops extends readonly ReadOp<unknown>[]>(
  ops: Ops,
): Operation<[], typeof operations.multiRead, ReadResults<Ops>> {
  // `encode` copies the list to this variable: the caller may change its list before the reply arrives.
  let copied: readonly ReadOp<unknown>[] = []
  return {
    name: 'multiRead',
    wire: operations.multiRead,
    paths: () => copied.map(({ path }) => path),
    encode: (chroot) => {
      copied = copyOf('multiRead', ops)
      return encodeParts(copied, 'read', chroot)
    },
    result: (results, chroot, errorContext) => {
      if (results.length !== copied.length) {
        throw new ProtocolError(`${results.length} results for a multiRead of ${copied.length} operations`)
      }
      return copied.map((each, index): ReadResult<unknown> => {
        const result = results[index]!
        if (result.type !== OpCode.error) return { value: codecOf(each)!.result(result, chroot) }
        const { err: number } = result.response
        const chrootPath = chroot.path === '/' ? undefined : chroot.path
        const details = { op: 'multiRead', path: each.path, chroot: chrootPath, index, number, ...errorContext?.() }
        return { error: new KeeperError(codeOf(number), details) }
      }) as ReadResults<Ops>
    },
  }
}

function codeOf(number: number) {
  if (number === ErrorCode.Ok) throw new ProtocolError('a result of a multiRead is an error with the code 0 (Ok)')
  const name = errorName(number)
  return name === undefined || name === 'Ok' ? 'Unknown' : name
}

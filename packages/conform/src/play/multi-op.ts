// The parts of a multi, and of a multiRead.
import { CreateMode, encode, type MultiOp, MultiRequest, OpCode } from '@zk/wire'
import { int32, utf8 } from './bytes.ts'
import { type CreateOptions, open } from './session.ts'

/** Make one part each: `session.multi(ops.check('/a', 3), ops.delete('/a'))`. */
export const ops = {
  create: (path: string | null, { flags = 0, acl = open, data = '' }: Omit<CreateOptions, 'op'> = {}) =>
    part(OpCode.create, { path, data: bytes(data), acl, flags }),
  create2: (path: string | null, flags = 0) => part(OpCode.create2, { path, data: bytes(''), acl: open, flags }),
  createContainer: (path: string, flags: number = CreateMode.CONTAINER) =>
    part(OpCode.createContainer, { path, data: bytes(''), acl: open, flags }),
  createTTL: (path: string, ttl: bigint, flags: number = CreateMode.PERSISTENT_WITH_TTL) =>
    part(OpCode.createTTL, { path, data: bytes(''), acl: open, flags, ttl }),
  delete: (path: string | null, version = -1) => part(OpCode.delete, { path, version }),
  setData: (path: string | null, data = '', version = -1) => part(OpCode.setData, { path, data: bytes(data), version }),
  check: (path: string | null, version = -1) => part(OpCode.check, { path, version }),
  getData: (path: string | null, watch = false) => part(OpCode.getData, { path, watch }),
  getChildren: (path: string | null, watch = false) => part(OpCode.getChildren, { path, watch }),
}

/** The body of a multi whose first part says that it is of another type. Paths are sent as they are. */
export function mistypedMulti(type: number, ...parts: readonly MultiOp[]): Uint8Array {
  const body = encode(MultiRequest, parts).slice()
  body.set(int32(type))
  return body
}

function part<T extends MultiOp['type']>(type: T, request: Extract<MultiOp, { type: T }>['request']): MultiOp {
  return { type, request } as MultiOp
}

function bytes(data: string | Uint8Array | null): Uint8Array | null {
  return typeof data === 'string' ? utf8(data) : data
}

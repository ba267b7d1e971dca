import {
  type ACL as WireACL,
  GetACLRequest,
  GetACLResponse,
  OpCode,
  SetACLRequest,
  SetACLResponse,
  type TypeOf,
} from '@zk/wire'
import { type Stat, toStat } from '../stat.ts'
import { type ACL, checkACL, checkVersion, required } from './arguments.ts'
import type { VersionOptions } from './delete.ts'
import type { Operation } from './operation.ts'

export interface NodeACL {
  readonly acl: ACL[]
  readonly stat: Stat
}

type Read = Operation<[path: string], TypeOf<typeof GetACLRequest>, TypeOf<typeof GetACLResponse>, NodeACL>

export const getACL: Read = {
  name: 'getACL',
  opCode: OpCode.getACL,
  kind: 'read',
  request: GetACLRequest,
  response: GetACLResponse,
  encode: (chroot, path) => ({ path: chroot.absolute(path) }),
  result: ({ acl, stat }) => ({ acl: required(acl, 'GetACLResponse.acl').map(toACL), stat: toStat(stat) }),
}

type Write = Operation<
  [path: string, acl: readonly ACL[], options: VersionOptions],
  TypeOf<typeof SetACLRequest>,
  TypeOf<typeof SetACLResponse>,
  Stat
>

export const setACL: Write = {
  name: 'setACL',
  opCode: OpCode.setACL,
  kind: 'write',
  request: SetACLRequest,
  response: SetACLResponse,
  encode: (chroot, path, acl, { version = -1 }) => ({
    path: chroot.absolute(path),
    acl: checkACL(acl),
    version: checkVersion(version),
  }),
  result: ({ stat }) => toStat(stat),
}

function toACL({ perms, id }: WireACL): ACL {
  return { perms, id: { scheme: required(id.scheme, 'ACL.id.scheme'), id: required(id.id, 'ACL.id.id') } }
}

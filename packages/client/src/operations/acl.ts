import { type ACL as WireACL, operations } from '@zk/wire'
import { type Stat, toStat } from './stat.ts'
import { type ACL, checkACL, versionIn, required } from '../base/arguments.ts'
import { versionOption, type VersionOptions } from './delete.ts'
import type { Operation } from './operation.ts'

/** The result of `getACL`. */
export interface NodeACL {
  /** The entries of the ACL. */
  readonly acl: ACL[]
  /** `aversion` is the version of the ACL, which `setACL` takes. */
  readonly stat: Stat
}

type Read = Operation<[path: string], typeof operations.getACL, NodeACL>

export const getACL: Read = {
  name: 'getACL',
  wire: operations.getACL,
  encode: (chroot, path) => ({ path: chroot.absolute(path) }),
  result: ({ acl, stat }) => ({ acl: required(acl, 'GetACLResponse.acl').map(toACL), stat: toStat(stat) }),
}

type Write = Operation<[path: string, acl: readonly ACL[], options: VersionOptions], typeof operations.setACL, Stat>

export const setACL: Write = {
  name: 'setACL',
  options: versionOption,
  wire: operations.setACL,
  encode: (chroot, path, acl, options) => ({
    path: chroot.absolute(path),
    acl: checkACL(acl),
    version: versionIn(options),
  }),
  result: ({ stat }) => toStat(stat),
}

function toACL({ perms, id }: WireACL): ACL {
  return { perms, id: { scheme: required(id.scheme, 'ACL.id.scheme'), id: required(id.id, 'ACL.id.id') } }
}

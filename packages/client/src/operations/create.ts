import { CreateMode, type CreateRequest, operations, Perms, type TypeOf } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import { type Stat, toStat } from '../stat.ts'
import { type ACL, checkACL, type Data, required, toBytes } from './arguments.ts'
import type { Operation } from './operation.ts'

export interface CreateOptions {
  /** @default 'PERSISTENT' */
  readonly mode?: Exclude<CreateMode, `${string}_WITH_TTL`>
  /** @default OPEN_ACL_UNSAFE */
  readonly acl?: readonly ACL[] | undefined
}

export interface Created {
  /** The path of the new node, with the counter's ten digits when it is sequential. */
  readonly path: string
  readonly stat: Stat
}

/** Everybody may do everything (ZooDefs.Ids.OPEN_ACL_UNSAFE). */
export const OPEN_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]
/** Everybody may read (ZooDefs.Ids.READ_ACL_UNSAFE). */
export const READ_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]
/** Whoever has one of the creator's identities may do everything (ZooDefs.Ids.CREATOR_ALL_ACL). */
export const CREATOR_ALL_ACL: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'auth', id: '' } }]

type Args = [path: string, data: Data | undefined, options: CreateOptions]

export const create: Operation<Args, typeof operations.create2 | typeof operations.createContainer, Created> = {
  name: 'create',
  // Both are answered with path and Stat.
  wire: (_path, _data, { mode }) => (mode === 'CONTAINER' ? operations.createContainer : operations.create2),
  encode: toCreateRequest,
  result: ({ path, stat }, chroot) => ({
    path: chroot.relative(required(path, 'Create2Response.path')),
    stat: toStat(stat),
  }),
}

export function toCreateRequest(
  chroot: Chroot,
  path: string,
  data: Data = '',
  { mode = 'PERSISTENT', acl = OPEN_ACL_UNSAFE }: CreateOptions,
): TypeOf<typeof CreateRequest> {
  if (!SUPPORTED.has(mode)) throw new TypeError(`mode must be one of ${[...SUPPORTED].join(', ')}`)
  return {
    path: chroot.absolute(path, { sequential: mode.endsWith('_SEQUENTIAL') }),
    data: toBytes(data),
    acl: checkACL(acl),
    flags: CreateMode[mode],
  }
}

const SUPPORTED = new Set<string>(Object.keys(CreateMode).filter((mode) => !mode.endsWith('_WITH_TTL')))

import { CreateMode, type CreateRequest, operations, Perms, type TypeOf } from '@zk/wire'
import type { Chroot } from '../base/chroot.ts'
import { optionNames } from './call-options.ts'
import { type Stat, toStat, withStat } from './stat.ts'
import { type ACL, checkACL, type Data, describe, required, toBytes } from '../base/arguments.ts'
import type { Operation } from './operation.ts'

/** The options of `create`: the kind of node to create. */
export interface CreateOptions {
  /**
   * Whether servers delete the node with its session (`EPHEMERAL`), after its last child (`CONTAINER`) or after a time
   * (`…_WITH_TTL`), and whether they append a number to its path (`…_SEQUENTIAL`).
   * @default 'PERSISTENT'
   */
  mode?: CreateMode | undefined
  /** The ACL of the node: at least one entry. Nodes below it do not inherit the ACL. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
  /**
   * For a mode with a TTL: the node is deleted if its data was not set for this many ms and it has no children. Servers check
   * this once a minute, and only with `extendedTypesEnabled`.
   */
  ttl?: number | undefined
}

/** The result of `create`. */
export interface Created {
  /** The path of the new node. The path of a sequential node ends with ten digits. */
  readonly path: string
  /** The Stat of the new node. `czxid` is the zxid of its creation. */
  readonly stat: Stat
}

/** Everyone may do everything (ZooDefs.Ids.OPEN_ACL_UNSAFE). */
export const OPEN_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]
/** Everyone may read (ZooDefs.Ids.READ_ACL_UNSAFE). */
export const READ_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]
/** Every identity of the creator may do everything (ZooDefs.Ids.CREATOR_ALL_ACL). */
export const CREATOR_ALL_ACL: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'auth', id: '' } }]

type Args = [path: string, data: Data | undefined, options: CreateOptions]

type Wires = typeof operations.create2 | typeof operations.createContainer | typeof operations.createTTL

const [create2, createContainer, createTTL] = [
  withStat(operations.create2),
  withStat(operations.createContainer),
  withStat(operations.createTTL),
]

export const create: Operation<Args, Wires, Created> = {
  name: 'create',
  options: {
    known: optionNames('mode', 'acl', 'ttl', 'parents'),
    inMulti: ['mode', 'acl', 'ttl'],
    example: "{ mode: 'EPHEMERAL' }",
  },
  // The reply to each of these has path and Stat.
  wire: (_path, _data, { mode }) => {
    if (mode === 'CONTAINER') return createContainer
    return hasTTL(mode) ? createTTL : create2
  },
  encode: (chroot, path, data, options) => {
    const request = toCreateRequest(chroot, path, data, options)
    return hasTTL(options.mode) ? { ...request, ttl: checkTTL(options.ttl) } : request
  },
  result: ({ path, stat }, chroot) => ({
    path: chroot.relative(required(path, 'Create2Response.path')),
    stat: toStat(stat),
  }),
}

function toCreateRequest(
  chroot: Chroot,
  path: string,
  data: Data = '',
  { mode = 'PERSISTENT', acl, ttl }: CreateOptions,
): TypeOf<typeof CreateRequest> {
  if (!Object.hasOwn(CreateMode, mode)) {
    throw new TypeError(`mode must be one of ${Object.keys(CreateMode).join(', ')}`)
  }
  if (ttl !== undefined && !hasTTL(mode)) throw new TypeError(`a node of mode ${mode} has no ttl`)
  return {
    path: chroot.absolute(path, { sequential: isSequential(mode) }),
    data: toBytes(data),
    acl: acl === undefined ? OPEN_ACL_UNSAFE : checkACL(acl),
    flags: CreateMode[mode],
  }
}

export const isSequential = (mode: CreateMode | undefined): boolean => mode?.includes('_SEQUENTIAL') === true

const hasTTL = (mode: CreateMode | undefined): boolean => mode?.endsWith('_WITH_TTL') === true

/** In ms, about 34 years: servers keep it in five bytes of ephemeralOwner (EphemeralType.TTL.maxValue). */
const LONGEST_TTL = 2 ** 40 - 1

function checkTTL(ttl: number | undefined): bigint {
  if (ttl === undefined) throw new TypeError('a mode with a TTL needs a ttl, in ms')
  if (Number.isInteger(ttl) && ttl >= 1 && ttl <= LONGEST_TTL) return BigInt(ttl)
  throw new RangeError(`ttl must be an integer from 1 to ${LONGEST_TTL} ms, not ${describe(ttl)}`)
}

import { CreateMode, type CreateRequest, type CreateTTLRequest, ErrorCode, type TypeOf } from '@zk/wire'
import { LONGEST_TTL } from './ephemeral-type.ts'

export type CreateOp =
  | { readonly op: 'create' | 'create2' | 'createContainer'; readonly request: TypeOf<typeof CreateRequest> }
  | { readonly op: 'createTTL'; readonly request: TypeOf<typeof CreateTTLRequest> }

export const isCreate = (op: { readonly op: string | undefined }): op is CreateOp => CREATES.has(op.op)

const CREATES: ReadonlySet<string | undefined> = new Set(['create', 'create2', 'createContainer', 'createTTL'])

/** The meaning of the flags of a create (CreateMode). The flags are numbers, not bit masks. */
export interface Mode {
  readonly isEphemeral: boolean
  readonly isSequential: boolean
  readonly isContainer: boolean
  readonly isTTL: boolean
}

const plain: Mode = { isEphemeral: false, isSequential: false, isContainer: false, isTTL: false }

const modes: ReadonlyMap<number, Mode> = new Map([
  [CreateMode.PERSISTENT, plain],
  [CreateMode.EPHEMERAL, { ...plain, isEphemeral: true }],
  [CreateMode.PERSISTENT_SEQUENTIAL, { ...plain, isSequential: true }],
  [CreateMode.EPHEMERAL_SEQUENTIAL, { ...plain, isEphemeral: true, isSequential: true }],
  [CreateMode.CONTAINER, { ...plain, isContainer: true }],
  [CreateMode.PERSISTENT_WITH_TTL, { ...plain, isTTL: true }],
  [CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, { ...plain, isSequential: true, isTTL: true }],
])

export const isKnownMode = (flags: number): boolean => modes.has(flags)

/** The mode for these flags in a multi. Unknown flags make a persistent node. */
export const modeOf = (flags: number): Mode => modes.get(flags) ?? plain

/**
 * The mode of a create, or the code with which it is refused. This comes before the checks of session, path and ACL
 * (validateCreateRequest).
 */
export function checkMode(create: CreateOp, extendedTypesEnabled: boolean): Mode | number {
  const { op, request } = create
  const mode = modes.get(request.flags)
  if (mode === undefined) return ErrorCode.BadArguments
  if (mode.isTTL) {
    if (!extendedTypesEnabled) return ErrorCode.Unimplemented
    return isTTL(ttlIn(create)) ? mode : ErrorCode.BadArguments
  }
  if (op !== 'createTTL') return mode
  // Only modes with a TTL may have one. (ZooKeeper accepts a negative TTL here, but then its servers fail to apply it.)
  return request.ttl >= 0n ? ErrorCode.BadArguments : ErrorCode.Unimplemented
}

/** The TTL of a create, in ms; -1 if it has none. */
export const ttlIn = (create: CreateOp): bigint => (create.op === 'createTTL' ? create.request.ttl : -1n)

const isTTL = (ttl: bigint) => ttl > 0n && ttl <= LONGEST_TTL

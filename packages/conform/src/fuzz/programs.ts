// Random programs with few paths and few sessions, so that sessions often use the same node.
import {
  type ACL,
  AddWatchMode,
  CreateMode,
  type MultiOp,
  OpCode,
  operations,
  Perms,
  type RequestOf,
  WatcherType,
} from '@zk/wire'
import * as fc from 'fast-check'
import { int32, open, places } from '../play/index.ts'
import { concerns, isBefore, nullInMulti, unreadableWrites } from '../releases/index.ts'
import type { Call, Op, PlainCall, Program, Step } from './program.ts'

/** What the servers know, and what may be sent to them. */
export interface ProgramOptions {
  /** Programs have no operations of later releases. */
  release: string
  /** How many steps a program has at most. @default 300 */
  mostSteps?: number | undefined
  /** Name and password of the superuser: without, no node is made that only it could delete. @default unknown */
  superUser?: string | undefined
  /** Whether programs have requests that servers send to each other, or that cannot be read. @default false */
  isHostile?: boolean | undefined
  /** Whether the servers have nodes with a TTL (extendedTypesEnabled). @default false */
  hasTTL?: boolean | undefined
}

const SESSIONS = 4

/** These are rarely deleted, because later steps need them. */
const parents = ['/a', '/b', '/a/x']
const leaves = ['/a/y', '/a/z', '/b/x', '/b/y', '/a/x/p', '/b/x/c']
/** Names that sequential creates may produce. */
const numbered = ['/a/s0000000004', '/a/s0000000007', '/b/s0000000003', '/b/s0000000005']
/** This node never gets children: a container that becomes empty is deleted at a time that servers choose. */
const container = '/c'
const badPaths = [null, '', 'a', '/a/', '/a//x', '/.', '/a/..']

const anyone = { scheme: 'world', id: 'anyone' }
/** What is below such a node can be deleted by the superuser only. */
const locked: readonly ACL[] = [{ perms: Perms.READ, id: anyone }]
const acls: readonly (readonly ACL[] | null)[] = [
  [{ perms: Perms.ALL & ~Perms.READ, id: anyone }],
  [{ perms: Perms.ALL & ~Perms.CREATE, id: anyone }],
  [{ perms: Perms.ALL & ~Perms.DELETE, id: anyone }],
  [{ perms: Perms.READ | Perms.ADMIN, id: anyone }],
  [{ perms: Perms.ALL, id: { scheme: 'auth', id: '' } }],
  [
    { perms: Perms.READ, id: anyone },
    { perms: Perms.ALL, id: { scheme: 'auth', id: '' } },
  ],
  [{ perms: Perms.ALL, id: { scheme: 'world', id: 'nobody' } }],
  [],
  null,
]
const users = ['tom:pass', 'jerry:pass', 'no-colon']

const unknownOpCodes = [OpCode.error, OpCode.notification, 10, 23, 99, 108, -2, 2 ** 31 - 1]
const containers = [new Uint8Array(), new TextEncoder().encode(container)]
/** Timeouts of a createSession; the last one is incomplete. With a short one, an idle session would end. */
const timeOuts = [int32(10_000), int32(40_000), new Uint8Array(3)]

/** One of these, each as often as its weight; 0 is never. */
const weighted = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.filter(([weight]) => weight > 0).map(([weight, arbitrary]) => ({ weight, arbitrary })))
/** `rare` with this probability, in percent. */
const rarely = <T>(percent: number, rare: fc.Arbitrary<T>, usual: fc.Arbitrary<T>) =>
  weighted([percent, rare], [100 - percent, usual])
/** At most one of these numbers. */
const upTo = <T>(most: readonly number[], item: fc.Arbitrary<T>, minLength = 0) =>
  fc.oneof(...most.map((maxLength) => fc.array(item, { minLength, maxLength, size: 'max' })))

// --- arguments ------------------------------------------------------------------------------------------------------

const goodPath = (parentChance = 30) =>
  rarely(
    parentChance,
    fc.constantFrom(...parents),
    weighted<string>(
      [80, fc.constantFrom(...leaves)],
      [12, fc.constantFrom(...numbered)],
      [6, fc.constant(container)],
      [2, fc.constant('/')],
    ),
  )
const anyPath = (parentChance?: number) =>
  rarely<string | null>(2, fc.constantFrom(...badPaths), goodPath(parentChance))
/** In reads an empty path means the server's root, which differs between runs. */
const readPath = rarely(10, fc.constant('/'), anyPath()).map((path) => (path === '' ? '/' : path))
const version = fc.constantFrom(-1, -1, -1, -1, -1, 0, 0, 1, 2, 7)
const data = rarely<Uint8Array | null>(
  5,
  fc.constant(null),
  fc.nat({ max: 3 }).map((size) => new TextEncoder().encode('x'.repeat(size))),
)
/** TTLs that do not end during a program, in ms. */
const longTTL = fc.constantFrom(3_600_000n, 86_400_000n)

const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL } = CreateMode
const { PERSISTENT_WITH_TTL, PERSISTENT_SEQUENTIAL_WITH_TTL } = CreateMode

const nothing = fc.constant(undefined)
const read = fc.record({ path: readPath, watch: rarely(40, fc.constant(false), fc.constant(true)) })
const watchedPaths = fc.array(goodPath(), { maxLength: 2 })
const since = fc.constantFrom('beginning' as const, 'connection' as const, 'now' as const)
const lists = { dataWatches: watchedPaths, existWatches: watchedPaths, childWatches: watchedPaths }
const allLists = { ...lists, persistentWatches: watchedPaths, persistentRecursiveWatches: watchedPaths }
/** Without a null path: with its refusal come the results of earlier parts, whose bytes differ between runs. */
const readPart = fc
  .constantFrom(OpCode.getData, OpCode.getChildren)
  .chain((type): fc.Arbitrary<MultiOp> =>
    read.map(({ path, watch }) => ({ type, request: { path: path ?? '/', watch } })),
  )

const plain = <Name extends Op>(weight: number, op: Name, request: fc.Arbitrary<RequestOf<Name>['request']>) => ({
  since: operations[op].since,
  choice: [weight, request.map((request) => ({ op, request }) as PlainCall)] as const,
})

/** With the xid of another request, a server would confuse the two (CommitProcessor). */
const serversCall = (mayDelete: boolean) =>
  weighted<Call>(
    [
      mayDelete ? 2 : 0,
      fc.constantFrom(...containers).map((body) => ({ op: 'servers', opCode: OpCode.deleteContainer, body })),
    ],
    [7, fc.constantFrom(...timeOuts).map((body) => ({ op: 'servers', opCode: OpCode.createSession, body }))],
    [1, fc.constantFrom(...timeOuts).map((body) => ({ op: 'servers', opCode: OpCode.createSession, body, xid: 0 }))],
  )

const at = fc.constantFrom(...places)
type Action = Step extends infer S ? (S extends Step ? Omit<S, 'session'> : never) : never

const plainCreate = (path: string) => ({ path, data: new Uint8Array(), acl: open, flags: PERSISTENT })

// --- programs -------------------------------------------------------------------------------------------------------

/** The first session is open, and the parents exist. Without a bias, most programs are long. */
export function programs(options: ProgramOptions): fc.Arbitrary<Program> {
  const { mostSteps = 300 } = options
  return fc
    .tuple(at, fc.noBias(fc.array(stepOf(options), { maxLength: mostSteps, size: 'max' })))
    .map(([at, steps]): Program => [
      { session: 0, do: 'open', at },
      { session: 0, do: 'call', calls: parents.map((path) => ({ op: 'create', request: plainCreate(path) })) },
      ...steps,
    ])
}

function stepOf(options: ProgramOptions): fc.Arbitrary<Step> {
  const calls = callsOf(options)
  return fc
    .tuple(
      fc.nat({ max: SESSIONS - 1 }),
      weighted<Action>(
        [80, calls.map((calls) => ({ do: 'call', calls }))],
        [12, at.map((at) => ({ do: 'open', at }))],
        [4, at.map((at) => ({ do: 'resume', at }))],
        [2, fc.constant({ do: 'drop' })],
        [2, fc.constant({ do: 'close' })],
      ),
    )
    .map(([session, action]): Step => ({ session, ...action }))
}

/**
 * Nothing follows some requests. Whether a new ACL applies to the next request depends on timing (PrepRequestProcessor). auth is
 * answered out of order. An unknown opcode closes the connection, so later requests are lost.
 */
function callsOf(options: ProgramOptions): fc.Arbitrary<readonly Call[]> {
  return upTo([1, 2, 4, 9], callOf(options)).map((calls) => {
    const alone = calls.find(({ op }) => op === 'auth' || op === 'unknown')
    const setACL = calls.findIndex(({ op }) => op === 'setACL')
    if (alone !== undefined) return [alone]
    return setACL === -1 ? calls : calls.slice(0, setACL + 1)
  })
}

function callOf(options: ProgramOptions): fc.Arbitrary<Call> {
  const { release, isHostile = false, superUser } = options
  const plainCall = plainCallOf(options)
  const cut = fc.tuple(plainCall, fc.integer({ min: 1, max: 12 })).map(([call, bytes]): Call => {
    // A multi that is cut short blocks a real 3.8.0. The reply to a ping has a fixed xid.
    if (call.op === 'multi' || call.op === 'multiRead' || call.op === 'ping') return call
    const stops = operations[call.op].kind === 'write' && concerns(unreadableWrites, release)
    return stops ? call : { op: 'cut', call, bytes }
  })
  return weighted<Call>(
    [89, plainCall],
    [4, fc.record({ op: fc.constant('setWatches' as const), since, lists: fc.record(lists) })],
    [
      isBefore(release, '3.6') ? 0 : 3,
      fc.record({ op: fc.constant('setWatches2' as const), since, lists: fc.record(allLists) }),
    ],
    [
      1,
      fc.constantFrom(...users, ...(superUser === undefined ? [] : [superUser])).map((user) => ({ op: 'auth', user })),
    ],
    [isHostile ? 3 : 0, cut],
    // The first bytes of a path are no length of a path.
    [isHostile ? 2 : 0, serversCall(!concerns(unreadableWrites, release))],
    [1, fc.constantFrom(...unknownOpCodes).map((opCode) => ({ op: 'unknown', opCode }))],
  )
}

function plainCallOf(options: ProgramOptions): fc.Arbitrary<PlainCall> {
  const { release, hasTTL = false } = options
  const { acl, create, createTTL, createContainer } = createsOf(options)
  const watches = fc.record({
    path: readPath,
    type: fc.constantFrom(...Object.values(WatcherType).slice(0, isBefore(release, '3.6') ? 3 : undefined)),
  })
  const addWatch = fc.record({
    // A real server takes null as a path, and fails at the second null.
    path: readPath.map((path) => path ?? '/'),
    mode: rarely<number>(3, fc.constant(2), fc.constantFrom(...Object.values(AddWatchMode))),
  })
  const choices = [
    plain(22, 'create', create),
    plain(6, 'create2', create),
    plain(2, 'createContainer', createContainer),
    plain(hasTTL ? 5 : 0, 'createTTL', createTTL),
    plain(14, 'delete', fc.record({ path: anyPath(4), version })),
    plain(10, 'setData', fc.record({ path: anyPath(), data, version })),
    plain(12, 'exists', read),
    plain(10, 'getData', read),
    plain(5, 'getChildren', read),
    plain(8, 'getChildren2', read),
    plain(1, 'getAllChildrenNumber', fc.record({ path: readPath })),
    plain(1, 'getEphemerals', fc.record({ prefixPath: fc.constantFrom('/', '/a', '/b/x') })),
    plain(1, 'whoAmI', nothing),
    plain(2, 'getACL', fc.record({ path: readPath })),
    plain(3, 'setACL', fc.record({ path: anyPath(), acl: acl(30), version })),
    plain(2, 'sync', fc.record({ path: readPath })),
    plain(1, 'ping', nothing),
    plain(12, 'multi', upTo([1, 3, 6], partOf(options), 1)),
    plain(4, 'multiRead', upTo([1, 3, 6], readPart)),
    plain(4, 'addWatch', addWatch),
    plain(3, 'checkWatches', watches),
    plain(3, 'removeWatches', watches),
  ]
  return weighted(...choices.filter(({ since }) => !isBefore(release, since)).map(({ choice }) => choice))
}

function createsOf({ superUser }: ProgramOptions) {
  const possible = superUser === undefined ? acls : [locked, ...acls]
  const acl = (chance: number) => rarely<readonly ACL[] | null>(chance, fc.constantFrom(...possible), fc.constant(open))
  const sequentialPath = rarely(10, anyPath(), fc.constantFrom<string | null>('/a/s', '/b/s', '/a/'))
  const sequential = fc.record({
    path: sequentialPath,
    data,
    acl: acl(5),
    flags: fc.constantFrom(PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL),
  })
  const createAt = (path: string | null) => {
    // If parents are ephemeral, fewer later steps succeed.
    const isParent = path !== null && parents.includes(path)
    const flags = rarely(isParent ? 3 : 40, fc.constant(EPHEMERAL), fc.constant(PERSISTENT))
    return fc.record({
      path: fc.constant(path),
      data,
      acl: acl(isParent ? 2 : 8),
      flags: rarely<number>(2, fc.constantFrom(9, -1), flags),
    })
  }
  const create = rarely(25, sequential, anyPath().chain(createAt))
  const withTTL = (path: fc.Arbitrary<string | null>, usual: number) => {
    const plain = { path, data, acl: acl(5) }
    // With these flags a negative TTL stops a real server for good (ttl/15).
    const withoutTTL = fc.record({ ...plain, flags: fc.constantFrom<number>(PERSISTENT, EPHEMERAL), ttl: longTTL })
    const ttl = rarely(5, fc.constantFrom(0n, -1n, 1n << 40n), longTTL)
    return rarely(3, withoutTTL, fc.record({ ...plain, flags: fc.constant(usual), ttl }))
  }
  return {
    acl,
    create,
    createContainer: create.map((request) => ({ ...request, path: container, flags: CreateMode.CONTAINER })),
    createTTL: rarely(
      30,
      withTTL(sequentialPath, PERSISTENT_SEQUENTIAL_WITH_TTL),
      withTTL(anyPath(4), PERSISTENT_WITH_TTL),
    ),
  }
}

/** For a multi, no requests are drawn that make a real 3.8.0 close the connection, such as one with a null path. */
function partOf(options: ProgramOptions): fc.Arbitrary<MultiOp> {
  const { release, isHostile = false, hasTTL = false } = options
  const { create, createTTL } = createsOf(options)
  const mayBeNull = isHostile && !concerns(nullInMulti, release)
  const creates = [OpCode.create, OpCode.create, OpCode.create2, ...(hasTTL ? [OpCode.createTTL] : [])] as const
  return fc
    .constantFrom(...creates, OpCode.delete, OpCode.setData, OpCode.check)
    .chain((type): fc.Arbitrary<MultiOp> => {
      const path = rarely(2, fc.constant('/a//x'), goodPath(type === OpCode.delete ? 2 : 40))
      const at = fc.record({ path, version: rarely(20, version, fc.constant(-1)) })
      switch (type) {
        case OpCode.create:
        case OpCode.create2:
          return fc.tuple(create, path).map(([request, path]) => ({ type, request: withACL({ ...request, path }) }))
        case OpCode.createTTL:
          return fc.tuple(createTTL, path).map(([request, path]) => ({ type, request: withACL({ ...request, path }) }))
        case OpCode.delete:
        case OpCode.check:
          return at.map((request) => ({ type, request }))
        case OpCode.setData:
          return fc.tuple(at, data).map(([request, data]) => ({ type, request: { ...request, data } }))
      }
    })

  function withACL<Request extends { readonly acl: readonly ACL[] | null }>(request: Request): Request {
    return mayBeNull || request.acl !== null ? request : { ...request, acl: [] }
  }
}

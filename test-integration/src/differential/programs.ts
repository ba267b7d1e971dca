// Random programs with few paths and few sessions, so that sessions often use the same node.
import { type ACL, CreateMode, type MultiOp, OpCode, Perms, type RequestOf, WatcherType } from '@zk/wire'
import * as fc from 'fast-check'
import { open, places, settings } from '@zk/conform/internal'
import type { Call, Op, PlainCall, Program, Step } from './program.ts'

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
const acls: readonly (readonly ACL[] | null)[] = [
  [{ perms: Perms.READ, id: anyone }],
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
const users = ['tom:pass', 'jerry:pass', 'no-colon', settings.superUser]

const unknownOpCodes = [OpCode.error, OpCode.notification, 10, 23, 99, 108, -2, 2 ** 31 - 1]
const containers = [new Uint8Array(), new TextEncoder().encode(container)]
/** Timeouts of a createSession; the last one is incomplete. With a short one, an idle session would end. */
const timeOuts = [int32(10_000), int32(40_000), new Uint8Array(3)]

/** One of these, each as often as its weight. */
const weighted = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
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
const acl = (chance: number) => rarely<readonly ACL[] | null>(chance, fc.constantFrom(...acls), fc.constant(open))

const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL } = CreateMode
const sequential = fc.record({
  path: rarely(10, anyPath(), fc.constantFrom<string | null>('/a/s', '/b/s', '/a/')),
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

// --- calls ----------------------------------------------------------------------------------------------------------

/** For a multi, no requests are drawn that make a real 3.8.0 close the connection, such as one with a null path. */
const part: fc.Arbitrary<MultiOp> = fc
  .constantFrom(OpCode.create, OpCode.create, OpCode.delete, OpCode.setData, OpCode.check)
  .chain((type): fc.Arbitrary<MultiOp> => {
    const path = rarely(2, fc.constant('/a//x'), goodPath(type === OpCode.delete ? 2 : 40))
    const at = fc.record({ path, version: rarely(20, version, fc.constant(-1)) })
    switch (type) {
      case OpCode.create:
        return fc.tuple(create, path).map(([request, path]) => ({ type, request: { ...request, path } }))
      case OpCode.delete:
      case OpCode.check:
        return at.map((request) => ({ type, request }))
      case OpCode.setData:
        return fc.tuple(at, data).map(([request, data]) => ({ type, request: { ...request, data } }))
    }
  })

const plain = <Name extends Op>(op: Name, request: fc.Arbitrary<RequestOf<Name>['request']>) =>
  request.map((request) => ({ op, request }) as PlainCall)
const nothing = fc.constant(undefined)
const read = fc.record({ path: readPath, watch: rarely(40, fc.constant(false), fc.constant(true)) })
const watches = fc.record({
  path: readPath,
  type: fc.constantFrom(...Object.values(WatcherType).slice(0, 3)),
})

const plainCall = weighted<PlainCall>(
  [22, plain('create', create)],
  [6, plain('create2', create)],
  [
    2,
    plain(
      'createContainer',
      create.map((request) => ({ ...request, path: container, flags: CreateMode.CONTAINER })),
    ),
  ],
  [14, plain('delete', fc.record({ path: anyPath(4), version }))],
  [10, plain('setData', fc.record({ path: anyPath(), data, version }))],
  [12, plain('exists', read)],
  [10, plain('getData', read)],
  [5, plain('getChildren', read)],
  [8, plain('getChildren2', read)],
  [1, plain('getAllChildrenNumber', fc.record({ path: readPath }))],
  [1, plain('getEphemerals', fc.record({ prefixPath: fc.constantFrom('/', '/a', '/b/x') }))],
  [1, plain('whoAmI', nothing)],
  [2, plain('getACL', fc.record({ path: readPath }))],
  [3, plain('setACL', fc.record({ path: anyPath(), acl: acl(30), version }))],
  [2, plain('sync', fc.record({ path: readPath }))],
  [1, plain('ping', nothing)],
  [12, plain('multi', upTo([1, 3, 6], part, 1))],
  [3, plain('checkWatches', watches)],
  [3, plain('removeWatches', watches)],
)

const paths = fc.array(goodPath(), { maxLength: 2 })
/** With the xid of another request, a server would confuse the two (CommitProcessor). */
const serversCall = weighted<Call>(
  [2, fc.constantFrom(...containers).map((body) => ({ op: 'servers', opCode: OpCode.deleteContainer, body }))],
  [7, fc.constantFrom(...timeOuts).map((body) => ({ op: 'servers', opCode: OpCode.createSession, body }))],
  [1, fc.constantFrom(...timeOuts).map((body) => ({ op: 'servers', opCode: OpCode.createSession, body, xid: 0 }))],
)
const call = weighted<Call>(
  [89, plainCall],
  [
    4,
    fc.record({
      op: fc.constant('setWatches' as const),
      since: fc.constantFrom('beginning' as const, 'connection' as const, 'now' as const),
      lists: fc.record({ dataWatches: paths, existWatches: paths, childWatches: paths }),
    }),
  ],
  [1, fc.constantFrom(...users).map((user) => ({ op: 'auth', user }))],
  [
    3,
    fc.tuple(plainCall, fc.integer({ min: 1, max: 12 })).map(([call, bytes]): Call => {
      // A multi that is cut short blocks a real 3.8.0. The reply to a ping has a fixed xid.
      return call.op === 'multi' || call.op === 'ping' ? call : { op: 'cut', call, bytes }
    }),
  ],
  [2, serversCall],
  [1, fc.constantFrom(...unknownOpCodes).map((opCode) => ({ op: 'unknown', opCode }))],
)

/**
 * Nothing follows some requests. Whether a new ACL applies to the next request depends on timing (PrepRequestProcessor). auth is
 * answered out of order. An unknown opcode closes the connection, so later requests are lost.
 */
const calls = upTo([1, 2, 4, 9], call).map((calls) => {
  const alone = calls.find(({ op }) => op === 'auth' || op === 'unknown')
  const setACL = calls.findIndex(({ op }) => op === 'setACL')
  if (alone !== undefined) return [alone]
  return setACL === -1 ? calls : calls.slice(0, setACL + 1)
})

// --- programs -------------------------------------------------------------------------------------------------------

const at = fc.constantFrom(...places)
const step = fc
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
type Action = Step extends infer S ? (S extends Step ? Omit<S, 'session'> : never) : never

const plainCreate = (path: string) => ({ path, data: new Uint8Array(), acl: open, flags: PERSISTENT })

/** The first session is open, and the parents exist. Without a bias, most programs are long. */
export const programs = (mostSteps = 300): fc.Arbitrary<Program> =>
  fc
    .tuple(at, fc.noBias(fc.array(step, { maxLength: mostSteps, size: 'max' })))
    .map(([at, steps]): Program => [
      { session: 0, do: 'open', at },
      { session: 0, do: 'call', calls: parents.map((path) => ({ op: 'create', request: plainCreate(path) })) },
      ...steps,
    ])

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

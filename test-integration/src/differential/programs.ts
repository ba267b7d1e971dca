// Generates random programs with few paths and few sessions, so that sessions often use the same node.
import { type ACL, CreateMode, type MultiOp, OpCode, Perms, WatcherType } from '@zk/wire'
import { open, places, settings } from '../scenario/index.ts'
import type { Call, PlainCall, Program, Step } from './program.ts'
import { Random } from './random.ts'

export interface GenerateOptions {
  /** @default 150 */
  readonly steps?: number
  /** @default 4 */
  readonly sessions?: number
}

export function generate(seed: number, { steps = 150, sessions = 4 }: GenerateOptions = {}): Program {
  const random = new Random(seed)
  const first: Step[] = [
    { session: 0, do: 'open', at: random.pick(places) },
    { session: 0, do: 'call', calls: parents.map((path) => ({ op: 'create', request: plainCreate(path) })) },
  ]
  return [...first, ...Array.from({ length: steps }, () => drawStep(random, random.below(sessions)))]
}

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

function drawStep(random: Random, session: number): Step {
  const what = random.weighted({ call: 80, open: 12, resume: 4, drop: 2, close: 2 })
  switch (what) {
    case 'call':
      return { session, do: what, calls: drawCalls(random) }
    case 'open':
    case 'resume':
      return { session, do: what, at: random.pick(places) }
    case 'drop':
    case 'close':
      return { session, do: what }
  }
}

function drawCalls(random: Random): Call[] {
  const calls = [drawCall(random), ...random.list(random.pick([0, 0, 2, 8]), () => drawCall(random))]
  // Nothing follows some requests. Whether a new ACL applies to the next request depends on timing (PrepRequestProcessor).
  // auth is answered out of order. An unknown opcode closes the connection, so later requests are lost.
  const alone = calls.find(({ op }) => op === 'auth' || op === 'unknown')
  const setACL = calls.findIndex(({ op }) => op === 'setACL')
  if (alone !== undefined) return [alone]
  return setACL === -1 ? calls : calls.slice(0, setACL + 1)
}

function drawCall(random: Random): Call {
  const what = random.weighted({ plain: 89, setWatches: 4, auth: 1, cut: 3, servers: 2, unknown: 1 })
  switch (what) {
    case 'plain':
      return drawPlainCall(random)
    case 'setWatches':
      return { op: what, since: random.pick(['beginning', 'connection', 'now']), lists: drawLists(random) }
    case 'auth':
      return { op: what, user: random.pick(users) }
    case 'servers':
      return drawServersCall(random)
    case 'unknown':
      return { op: what, opCode: random.pick(unknownOpCodes) }
    case 'cut': {
      const call = drawPlainCall(random)
      // A multi that is cut short blocks a real 3.8.0. The reply to a ping has a fixed xid.
      return call.op === 'multi' || call.op === 'ping' ? call : { op: what, call, bytes: 1 + random.below(12) }
    }
  }
}

/** With the xid of another request, a server would confuse the two (CommitProcessor). */
function drawServersCall(random: Random): Call {
  if (random.percent(20)) return { op: 'servers', opCode: OpCode.deleteContainer, body: random.pick(containers) }
  const body = random.pick(timeOuts)
  const call = { op: 'servers', opCode: OpCode.createSession, body } as const
  return random.percent(90) ? call : { ...call, xid: 0 }
}

function drawPlainCall(random: Random): PlainCall {
  const op = random.weighted({
    create: 22,
    create2: 6,
    createContainer: 2,
    delete: 14,
    setData: 10,
    exists: 12,
    getData: 10,
    getChildren: 5,
    getChildren2: 8,
    getAllChildrenNumber: 1,
    getEphemerals: 1,
    whoAmI: 1,
    getACL: 2,
    setACL: 3,
    sync: 2,
    ping: 1,
    multi: 12,
    checkWatches: 3,
    removeWatches: 3,
  })
  switch (op) {
    case 'create':
    case 'create2':
      return { op, request: drawCreate(random) }
    case 'createContainer':
      return { op, request: { ...drawCreate(random), path: container, flags: CreateMode.CONTAINER } }
    case 'delete':
      return { op, request: { path: drawPath(random, 4), version: drawVersion(random) } }
    case 'setData':
      return { op, request: { path: drawPath(random), data: drawData(random), version: drawVersion(random) } }
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getChildren2':
      return { op, request: { path: drawReadPath(random), watch: random.percent(60) } }
    case 'getACL':
    case 'getAllChildrenNumber':
      return { op, request: { path: drawReadPath(random) } }
    case 'getEphemerals':
      return { op, request: { prefixPath: random.pick(['/', '/a', '/b/x']) } }
    case 'whoAmI':
      return { op, request: undefined }
    case 'setACL':
      return { op, request: { path: drawPath(random), acl: drawACL(random, 30), version: drawVersion(random) } }
    case 'sync':
      return { op, request: { path: drawReadPath(random) } }
    case 'ping':
      return { op, request: undefined }
    case 'multi':
      return { op, request: [drawPart(random), ...random.list(random.pick([0, 2, 5]), () => drawPart(random))] }
    case 'checkWatches':
    case 'removeWatches':
      return { op, request: { path: drawReadPath(random), type: random.pick(Object.values(WatcherType).slice(0, 3)) } }
  }
}

function plainCreate(path: string) {
  return { path, data: new Uint8Array(), acl: open, flags: CreateMode.PERSISTENT }
}

function drawCreate(random: Random) {
  const { PERSISTENT, EPHEMERAL, PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL } = CreateMode
  const data = drawData(random)
  if (random.percent(25)) {
    const path = random.percent(90) ? random.pick(['/a/s', '/b/s', '/a/']) : drawPath(random)
    return { path, data, acl: drawACL(random, 5), flags: random.pick([PERSISTENT_SEQUENTIAL, EPHEMERAL_SEQUENTIAL]) }
  }
  const path = drawPath(random)
  // If parents are ephemeral, fewer later steps succeed.
  const isParent = path !== null && parents.includes(path)
  const flags = random.percent(isParent ? 3 : 40) ? EPHEMERAL : PERSISTENT
  return {
    path,
    data,
    acl: drawACL(random, isParent ? 2 : 8),
    flags: random.percent(98) ? flags : random.pick([9, -1]),
  }
}

/** For a multi, no requests are drawn that make a real 3.8.0 close the connection, such as one with a null path. */
function drawPart(random: Random): MultiOp {
  const type = random.pick([OpCode.create, OpCode.create, OpCode.delete, OpCode.setData, OpCode.check])
  const path = random.percent(98) ? drawGoodPath(random, type === OpCode.delete ? 2 : 40) : '/a//x'
  const version = random.percent(80) ? -1 : drawVersion(random)
  switch (type) {
    case OpCode.create:
      return { type, request: { ...drawCreate(random), path } }
    case OpCode.delete:
    case OpCode.check:
      return { type, request: { path, version } }
    case OpCode.setData:
      return { type, request: { path, data: drawData(random), version } }
  }
}

function drawLists(random: Random) {
  const list = () => random.list(2, () => drawGoodPath(random))
  return { dataWatches: list(), existWatches: list(), childWatches: list() }
}

function drawPath(random: Random, parentChance?: number): string | null {
  return random.percent(98) ? drawGoodPath(random, parentChance) : random.pick(badPaths)
}

/** In reads an empty path means the server's root, which differs between runs. */
function drawReadPath(random: Random): string | null {
  const path = random.percent(10) ? '/' : drawPath(random)
  return path === '' ? '/' : path
}

function drawGoodPath(random: Random, parentChance = 30): string {
  if (random.percent(parentChance)) return random.pick(parents)
  const from = random.weighted({ leaves: 80, numbered: 12, container: 6, root: 2 })
  return { leaves: random.pick(leaves), numbered: random.pick(numbered), container, root: '/' }[from]
}

function drawVersion(random: Random): number {
  return random.pick([-1, -1, -1, -1, -1, 0, 0, 1, 2, 7])
}

function drawData(random: Random): Uint8Array | null {
  return random.percent(95) ? new TextEncoder().encode('x'.repeat(random.below(4))) : null
}

function drawACL(random: Random, chance: number): readonly ACL[] | null {
  return random.percent(chance) ? random.pick(acls) : open
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

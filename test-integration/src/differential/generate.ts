// Draws programs: few paths and few sessions, so that they meet.
import { type ACL, CreateMode, type MultiOp, OpCode, Perms, WatcherType } from '@zk/wire'
import { open, places, settings } from '../scenario/index.ts'
import type { Call, Program, Step } from './program.ts'
import { Random } from './random.ts'

export interface GenerateOptions {
  /** @default 120 */
  readonly steps?: number
  /** @default 4 */
  readonly sessions?: number
}

export function generate(seed: number, { steps = 120, sessions = 4 }: GenerateOptions = {}): Program {
  const random = new Random(seed)
  return Array.from({ length: steps }, () => drawStep(random, random.below(sessions)))
}

const paths = ['/a', '/b', '/a/x', '/a/y', '/b/x', '/a/x/p']
/** Made by sequential creates, if they are made. */
const numbered = ['/a/s0000000000', '/a/s0000000001', '/a/s0000000002', '/b/s0000000000']
/** Never given children: empty containers go at a time of the servers' choice. */
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

function drawStep(random: Random, session: number): Step {
  const what = random.weighted({ call: 70, open: 12, resume: 8, drop: 3, close: 3 })
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
  const calls = [drawCall(random), ...random.list(random.pick([0, 0, 1, 4]), () => drawCall(random))]
  // Whether a new ACL is in force for what comes right behind it is a matter of chance (PrepRequestProcessor), and auth
  // is answered out of turn.
  const auth = calls.find(({ op }) => op === 'auth')
  const setACL = calls.findIndex(({ op }) => op === 'setACL')
  if (auth !== undefined) return [auth]
  return setACL === -1 ? calls : calls.slice(0, setACL + 1)
}

function drawCall(random: Random): Call {
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
    getACL: 2,
    setACL: 3,
    sync: 2,
    ping: 1,
    multi: 12,
    checkWatches: 3,
    removeWatches: 3,
    setWatches: 4,
    auth: 1,
  })
  switch (op) {
    case 'create':
    case 'create2':
      return { op, request: drawCreate(random) }
    case 'createContainer':
      return { op, request: { ...drawCreate(random), path: container, flags: CreateMode.CONTAINER } }
    case 'delete':
      return { op, request: { path: drawPath(random), version: drawVersion(random) } }
    case 'setData':
      return { op, request: { path: drawPath(random), data: drawData(random), version: drawVersion(random) } }
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getChildren2':
      return { op, request: { path: drawReadPath(random), watch: random.percent(60) } }
    case 'getACL':
      return { op, request: { path: drawReadPath(random) } }
    case 'setACL':
      return { op, request: { path: drawPath(random), acl: drawACL(random, 40), version: drawVersion(random) } }
    case 'sync':
      return { op, request: { path: drawReadPath(random) } }
    case 'ping':
      return { op, request: undefined }
    case 'multi':
      return { op, request: random.list(5, () => drawPart(random)) }
    case 'checkWatches':
    case 'removeWatches':
      return { op, request: { path: drawReadPath(random), type: random.pick(Object.values(WatcherType).slice(0, 3)) } }
    case 'setWatches':
      return { op, since: random.pick(['beginning', 'connection', 'now']), lists: drawLists(random) }
    case 'auth':
      return { op, user: random.pick(users) }
  }
}

function drawCreate(random: Random) {
  const flags = random.pick([0, 0, 0, 0, 1, 1, 2, 3, ...(random.percent(5) ? [4, 9, -1] : [])])
  const isSequential = flags === 2 || flags === 3
  const path = isSequential && random.percent(80) ? random.pick(['/a/s', '/b/s', '/a/']) : drawPath(random)
  return { path, data: drawData(random), acl: drawACL(random, 8), flags: flags === 4 && path !== container ? 0 : flags }
}

/** What fails without an answer on a real 3.8.0, a null path for instance, is not drawn for a multi. */
function drawPart(random: Random): MultiOp {
  const path = random.percent(97) ? drawGoodPath(random) : '/a//x'
  const type = random.pick([OpCode.create, OpCode.create, OpCode.delete, OpCode.setData, OpCode.check])
  const version = drawVersion(random)
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

function drawPath(random: Random): string | null {
  return random.percent(97) ? drawGoodPath(random) : random.pick(badPaths)
}

/** An empty path is that of the root to readers, of which each run has its own picture. */
function drawReadPath(random: Random): string | null {
  const path = random.percent(15) ? '/' : drawPath(random)
  return path === '' ? '/' : path
}

function drawGoodPath(random: Random): string {
  const from = random.weighted({ paths: 80, numbered: 12, container: 4, root: 4 })
  return { paths: random.pick(paths), numbered: random.pick(numbered), container, root: '/' }[from]
}

function drawVersion(random: Random): number {
  return random.pick([-1, -1, -1, 0, 0, 1, 2, 7])
}

function drawData(random: Random): Uint8Array | null {
  return random.percent(95) ? new TextEncoder().encode('x'.repeat(random.below(4))) : null
}

function drawACL(random: Random, chance: number): readonly ACL[] | null {
  return random.percent(chance) ? random.pick(acls) : open
}

// How each kind of fault is drawn.
import type { Random } from '@zk/testing/internal'
import type { Fault, FaultType, FaultyOp } from './fault.ts'
import type { EnsemblePlan, ScheduledFault } from './scenario.ts'

/** The scenario for which a fault is drawn. */
export interface Shape {
  readonly clients: number
  readonly ensemble: EnsemblePlan
  /** The session timeouts that clients request, in ms. */
  readonly sessionTimeouts: readonly number[]
  /** The requests that may be struck. */
  readonly ops: readonly FaultyOp[]
}

interface FaultKind {
  readonly draw: (random: Random, shape: Shape) => Fault
  /** Further faults that come with one at that time. */
  readonly drawSecond?: (random: Random, first: ScheduledFault, shape: Shape) => ScheduledFault | undefined
}

const client = (random: Random, { clients }: Shape) =>
  random.chance(0.4) ? ('holder' as const) : random.below(clients)
const member = (random: Random, { ensemble }: Shape) => random.below(ensemble.members)
const memberOrLeader = (random: Random, shape: Shape) =>
  random.chance(0.4) ? ('leader' as const) : member(random, shape)
/** Most lists have servers that this client cannot reach, and some have no other. */
const listed = <Target>(random: Random, shape: Shape, odd: readonly Target[]) =>
  Array.from({ length: random.between(1, 3) }, () => (random.chance(0.3) ? member(random, shape) : random.one(odd)))
const way = (random: Random) => random.one(['up', 'down', 'both'] as const)
const frame = (random: Random, shape: Shape, ops: readonly FaultyOp[]) => ({
  op: random.one(ops),
  client: random.chance(0.7) ? client(random, shape) : ('any' as const),
  nth: random.between(1, 3),
})
const withEvents = ({ ops }: Shape): readonly FaultyOp[] => [...ops, 'event']
/** Requests that a server answers in their turn, unlike a handshake. */
const services = ({ ops }: Shape) => ops.filter((op) => op !== 'connect' && op !== 'sasl')

/** A duration in ms: often very short, often about as long as the deadlines of a session. */
function duration(random: Random, { sessionTimeouts }: Shape, longest = 1.5): number {
  const sessionTimeout = random.one(sessionTimeouts)
  const share = random.one([0.02, 0.1, 0.34, 0.67, 1, 1.5].filter((each) => each <= longest))
  return Math.ceil(sessionTimeout * share * (0.5 + random.next()))
}

/** A client looks names up only when it looks for a server. */
function lostConnection(random: Random, { at, fault }: ScheduledFault): ScheduledFault | undefined {
  if (!('client' in fault) || !('for' in fault) || random.chance(0.3)) return undefined
  return { at: at + random.below(Math.ceil(fault.for / 2)), fault: { type: 'reset', client: fault.client } }
}

export const faultKinds: { readonly [Type in FaultType]: FaultKind } = {
  reset: { draw: (random, shape) => ({ type: 'reset', client: client(random, shape) }) },
  halfOpen: {
    draw: (random, shape) => ({ type: 'halfOpen', client: client(random, shape), way: way(random) }),
  },
  hold: {
    draw: (random, shape) => ({
      type: 'hold',
      client: client(random, shape),
      member: member(random, shape),
      way: way(random),
      for: duration(random, shape),
    }),
  },
  cutOff: {
    draw: (random, shape) => ({
      type: 'cutOff',
      client: client(random, shape),
      way: way(random),
      for: duration(random, shape),
    }),
  },
  slow: {
    draw: (random, shape) => ({
      type: 'slow',
      client: client(random, shape),
      latency: random.one([50, 200, 500]),
      for: duration(random, shape),
    }),
  },
  failLookUp: {
    draw: (random, shape) => ({ type: 'failLookUp', client: client(random, shape), for: duration(random, shape) }),
    drawSecond: lostConnection,
  },
  slowLookUp: {
    draw: (random, shape) => ({
      type: 'slowLookUp',
      client: client(random, shape),
      by: duration(random, shape, 1),
      for: duration(random, shape),
    }),
    drawSecond: lostConnection,
  },
  misdirect: {
    draw: (random, shape) => ({
      type: 'misdirect',
      client: client(random, shape),
      name: member(random, shape),
      to: Array.from({ length: random.one([0, 1, 1, 1, 2, 3]) }, () =>
        random.one([member(random, shape), 'closed', 'silent'] as const),
      ),
      for: duration(random, shape),
    }),
    drawSecond: lostConnection,
  },
  misconfigure: {
    draw: (random, shape) => ({
      type: 'misconfigure',
      servers: listed(random, shape, ['closed', 'silent', 'wrongPort', 'noPort'] as const),
    }),
  },
  relist: {
    draw: (random, shape) => ({
      type: 'relist',
      client: client(random, shape),
      servers: listed(random, shape, ['closed', 'silent'] as const),
    }),
  },
  stall: {
    draw: (random, shape) => ({
      type: 'stall',
      client: client(random, shape),
      for: duration(random, shape),
    }),
  },
  wallJump: {
    draw: (random, shape) => ({
      type: 'wallJump',
      client: client(random, shape),
      by: random.one([-3_600_000, -1_000, 1_000, 3_600_000]),
    }),
  },
  killClient: {
    draw: (random, shape) => ({
      type: 'killClient',
      client: client(random, shape),
      how: random.one(['process', 'machine'] as const),
    }),
  },
  crash: {
    draw: (random, shape) => ({ type: 'crash', member: memberOrLeader(random, shape), for: duration(random, shape) }),
    // A fault of the leader often cuts the links to the others, too.
    drawSecond: (random, { at, fault }, shape) => {
      if (fault.type !== 'crash' || fault.member !== 'leader' || random.chance(0.6)) return undefined
      const length = duration(random, shape)
      const before = random.below(50)
      return {
        at: Math.max(at - before, 0),
        fault: { type: 'cutOff', client: client(random, shape), way: 'both', for: length },
      }
    },
  },
  freeze: {
    draw: (random, shape) => ({ type: 'freeze', member: memberOrLeader(random, shape), for: duration(random, shape) }),
  },
  lag: {
    draw: (random, shape) => ({
      type: 'lag',
      member: member(random, shape),
      by: random.between(10, 2_000),
      for: duration(random, shape),
    }),
  },
  refuse: {
    draw: (random, shape) => ({ type: 'refuse', member: member(random, shape), for: duration(random, shape) }),
  },
  cutFollower: {
    draw: (random, shape) => ({ type: 'cutFollower', nth: random.below(2), for: duration(random, shape) }),
  },
  isolateLeader: {
    draw: (random, shape) => ({ type: 'isolateLeader', for: duration(random, shape) }),
  },
  stallLink: {
    draw: (random, shape) => ({
      type: 'stallLink',
      client: random.chance(0.25) ? 'holder' : random.below(shape.clients),
      way: random.chance(0.65) ? 'toFollower' : 'toLeader',
      // It is often so long that a session hardly survives it.
      for: random.chance(0.5)
        ? Math.ceil(random.one(shape.sessionTimeouts) * (0.7 + random.next() / 2))
        : duration(random, shape),
    }),
    // A link that stalls in one direction often stalls in the other one before the first stall is over.
    drawSecond: (random, { at, fault }) => {
      if (fault.type !== 'stallLink' || random.chance(0.25)) return undefined
      const way = fault.way === 'toLeader' ? 'toFollower' : 'toLeader'
      const overlap = random.below(Math.ceil(fault.for / 4) + 1)
      return { at: at + fault.for - overlap, fault: { ...fault, way, for: overlap + fault.for } }
    },
  },
  turnLink: {
    draw: (random, shape) => {
      const T = random.one(shape.sessionTimeouts)
      const turnsAfter = Math.ceil(T * (0.4 + random.next() * 0.6))
      const until = Math.ceil(T * (1 + random.next()))
      const target = random.chance(0.25) ? 'holder' : random.below(shape.clients)
      return {
        type: 'turnLink',
        client: target,
        turnsAfter,
        // The answer to the committed request arrives.
        thenOpen: random.between(2, 4) * shape.ensemble.latency + random.below(Math.ceil(T / 8)),
        for: turnsAfter + until,
      }
    },
  },
  loseTouch: { draw: (random, shape) => ({ type: 'loseTouch', client: client(random, shape) }) },
  expire: { draw: (random, shape) => ({ type: 'expire', client: client(random, shape) }) },
  move: {
    draw: (random, shape) => ({ type: 'move', client: client(random, shape), member: member(random, shape) }),
  },
  replaceSession: {
    draw: (random, shape) => ({ type: 'replaceSession', client: client(random, shape), for: duration(random, shape) }),
    drawSecond: lostConnection,
  },
  loseRequest: {
    draw: (random, shape) => ({
      type: 'loseRequest',
      ...frame(random, shape, shape.ops),
      connection: random.one(['end', 'reset', 'halfOpen', 'open'] as const),
    }),
  },
  loseReply: {
    draw: (random, shape) => ({
      type: 'loseReply',
      ...frame(random, shape, withEvents(shape)),
      connection: random.one(['end', 'reset', 'halfOpen'] as const),
    }),
  },
  drop: {
    draw: (random, shape) => ({
      type: 'drop',
      ...frame(random, shape, withEvents(shape)),
      connection: random.one(['end', 'reset', 'halfOpen'] as const),
    }),
  },
  delayRequest: {
    draw: (random, shape) => ({
      type: 'delayRequest',
      ...frame(random, shape, shape.ops),
      ms: duration(random, shape, 0.67),
    }),
  },
  delayReply: {
    draw: (random, shape) => ({
      type: 'delayReply',
      ...frame(random, shape, withEvents(shape)),
      ms: duration(random, shape, 0.67),
    }),
  },
  throttle: { draw: (random, shape) => ({ type: 'throttle', ...frame(random, shape, services(shape)) }) },
  garbage: { draw: (random, shape) => ({ type: 'garbage', ...frame(random, shape, shape.ops) }) },
  unknownError: {
    draw: (random, shape) => ({
      type: 'unknownError',
      // A watch whose removal is refused stays at the server. No client can change that.
      ...frame(
        random,
        shape,
        services(shape).filter((op) => op !== 'removeWatches'),
      ),
      code: random.one([-77, -999, 42]),
    }),
  },
  unknownEvent: { draw: (random, shape) => ({ type: 'unknownEvent', client: client(random, shape) }) },
  mangle: {
    draw: (random, shape) => ({
      type: 'mangle',
      client: client(random, shape),
      how: random.one(['length', 'long', 'xid', 'cut'] as const),
      keep: random.below(100),
    }),
  },
  deleteNode: { draw: (random) => ({ type: 'deleteNode', nth: random.below(3) }) },
  deleteParent: { draw: () => ({ type: 'deleteParent' }) },
  touch: { draw: () => ({ type: 'touch' }) },
  // Near the end, but not so near that it runs out in one history.
  presetCounter: {
    draw: (random) => ({ type: 'presetCounter', to: 2 ** 31 - 2_000_000 - random.below(1_000) }),
  },
}

const all = Object.keys(faultKinds) as FaultType[]

/** Faults of servers that break the protocol, or are of a later release. */
const ofOddServers: readonly FaultType[] = ['unknownError', 'unknownEvent', 'mangle']
const ofContenders: readonly FaultType[] = ['deleteNode', 'deleteParent', 'touch', 'presetCounter']

/** Faults of look-ups. They do nothing if there are no names. */
export const ofNames: readonly FaultType[] = ['failLookUp', 'slowLookUp', 'misdirect']

/** The faults that are drawn by default. */
export const everyFault: readonly FaultType[] = all.filter((type) => !ofOddServers.includes(type))

/** The faults that are drawn by default for recipes that hold nothing: they watch no node, and no counter numbers them. */
export const everyFaultOfSteps: readonly FaultType[] = everyFault.filter(
  (type) => type !== 'touch' && type !== 'presetCounter',
)

/** The faults that are drawn by default for plain calls. */
export const everyFaultOfCalls: readonly FaultType[] = all.filter((type) => !ofContenders.includes(type))

// How each kind of fault is drawn.
import type { Random } from '@zk/testing/internal'
import type { Fault, FaultOf, FaultType, FaultyOp } from './fault.ts'
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

type Draw<Value> = (random: Random, shape: Shape) => Value

/** Its fields, drawn one after the other; or all of them together. */
type Drawing<F extends Fault> = { readonly [Field in Exclude<keyof F, 'type'>]: Draw<F[Field]> } | Draw<Omit<F, 'type'>>

const client: Draw<number | 'holder'> = (random, { clients }) => (random.chance(0.4) ? 'holder' : random.below(clients))
/** Rarely the holder: for links between members, of which the leader has one with each follower. */
const anyClient: Draw<number | 'holder'> = (random, { clients }) =>
  random.chance(0.25) ? 'holder' : random.below(clients)
const member: Draw<number> = (random, { ensemble }) => random.below(ensemble.members)
const memberOrLeader: Draw<number | 'leader'> = (random, shape) =>
  random.chance(0.4) ? 'leader' : member(random, shape)
const way = oneOf('up', 'down', 'both')
/** Most lists have servers that this client cannot reach, and some have no other. */
const listed =
  <Target>(...odd: readonly Target[]): Draw<(Target | number)[]> =>
  (random, shape) =>
    Array.from({ length: random.between(1, 3) }, () => (random.chance(0.3) ? member(random, shape) : random.one(odd)))

/** The requests of a kind, or the events. */
const frame = (opsOf: (shape: Shape) => readonly FaultyOp[]) => ({
  op: ((random, shape) => random.one(opsOf(shape))) satisfies Draw<FaultyOp>,
  client: ((random, shape) => (random.chance(0.7) ? client(random, shape) : 'any')) satisfies Draw<unknown>,
  nth: ((random) => random.between(1, 3)) satisfies Draw<number>,
})
const request = frame(({ ops }) => ops)
const requestOrEvent = frame(({ ops }) => [...ops, 'event'])
/** Requests that a server answers in their turn, unlike a handshake. */
const services = ({ ops }: Shape) => ops.filter((op) => op !== 'connect' && op !== 'sasl')

function oneOf<const Value>(...values: readonly Value[]): Draw<Value> {
  return (random) => random.one(values)
}

/** A duration in ms: often very short, often about as long as the deadlines of a session. */
function duration(random: Random, { sessionTimeouts }: Shape, longest = 1.5): number {
  const sessionTimeout = random.one(sessionTimeouts)
  const share = random.one([0.02, 0.1, 0.34, 0.67, 1, 1.5].filter((each) => each <= longest))
  return Math.ceil(sessionTimeout * share * (0.5 + random.next()))
}

const upTo =
  (longest: number): Draw<number> =>
  (random, shape) =>
    duration(random, shape, longest)

const drawings: { readonly [Type in FaultType]: Drawing<FaultOf<Type>> } = {
  reset: { client },
  halfOpen: { client, way },
  hold: { client, member, way, for: duration },
  cutOff: { client, way, for: duration },
  slow: { client, latency: oneOf(50, 200, 500), for: duration },
  failLookUp: { client, for: duration },
  slowLookUp: { client, by: upTo(1), for: duration },
  misdirect: {
    client,
    name: member,
    to: (random, shape) =>
      Array.from({ length: random.one([0, 1, 1, 1, 2, 3]) }, () =>
        random.one([member(random, shape), 'closed', 'silent'] as const),
      ),
    for: duration,
  },
  misconfigure: { servers: listed('closed', 'silent', 'wrongPort', 'noPort') },
  relist: { client, servers: listed('closed', 'silent') },
  stall: { client, for: duration },
  wallJump: { client, by: oneOf(-3_600_000, -1_000, 1_000, 3_600_000) },
  killClient: { client, how: oneOf('process', 'machine') },
  crash: { member: memberOrLeader, for: duration },
  freeze: { member: memberOrLeader, for: duration },
  lag: { member, by: (random) => random.between(10, 2_000), for: duration },
  refuse: { member, for: duration },
  cutFollower: { nth: (random) => random.below(2), for: duration },
  isolateLeader: { for: duration },
  stallLink: {
    client: anyClient,
    way: (random) => (random.chance(0.65) ? 'toFollower' : 'toLeader'),
    // It is often so long that a session hardly survives it.
    for: (random, shape) =>
      random.chance(0.5)
        ? Math.ceil(random.one(shape.sessionTimeouts) * (0.7 + random.next() / 2))
        : duration(random, shape),
  },
  turnLink: (random, shape) => {
    const T = random.one(shape.sessionTimeouts)
    const turnsAfter = Math.ceil(T * (0.4 + random.next() * 0.6))
    const until = Math.ceil(T * (1 + random.next()))
    return {
      client: anyClient(random, shape),
      turnsAfter,
      // The answer to the committed request arrives.
      thenOpen: random.between(2, 4) * shape.ensemble.latency + random.below(Math.ceil(T / 8)),
      for: turnsAfter + until,
    }
  },
  loseTouch: { client },
  expire: { client },
  move: { client, member },
  replaceSession: { client, for: duration },
  loseRequest: { ...request, connection: oneOf('end', 'reset', 'halfOpen', 'open') },
  loseReply: { ...requestOrEvent, connection: oneOf('end', 'reset', 'halfOpen') },
  drop: { ...requestOrEvent, connection: oneOf('end', 'reset', 'halfOpen') },
  delayRequest: { ...request, ms: upTo(0.67) },
  delayReply: { ...requestOrEvent, ms: upTo(0.67) },
  throttle: frame(services),
  garbage: request,
  unknownError: {
    // A watch whose removal is refused stays at the server. No client can change that.
    ...frame((shape) => services(shape).filter((op) => op !== 'removeWatches')),
    code: oneOf(-77, -999, 42),
  },
  unknownEvent: { client },
  mangle: { client, how: oneOf('length', 'long', 'xid', 'cut'), keep: (random) => random.below(100) },
  deleteNode: { nth: (random) => random.below(3) },
  deleteParent: {},
  touch: {},
  // Near the end, but not so near that it runs out in one history.
  presetCounter: { to: (random) => 2 ** 31 - 2_000_000 - random.below(1_000) },
}

export function drawFault(random: Random, type: FaultType, shape: Shape): Fault {
  const drawing = drawings[type]
  if (typeof drawing === 'function') return { type, ...drawing(random, shape) } as Fault
  const fields = Object.entries<Draw<unknown>>(drawing).map(([name, draw]) => [name, draw(random, shape)] as const)
  return { type, ...Object.fromEntries(fields) } as Fault
}

/** A further fault that often comes with one at that time. */
export function drawSecond(random: Random, first: ScheduledFault, shape: Shape): ScheduledFault | undefined {
  const { at, fault } = first
  const { type } = fault
  // A client looks names up, and resumes its session, only when it has lost its connection.
  if (type === 'failLookUp' || type === 'slowLookUp' || type === 'misdirect' || type === 'replaceSession') {
    if (random.chance(0.3)) return undefined
    return { at: at + random.below(Math.ceil(fault.for / 2)), fault: { type: 'reset', client: fault.client } }
  }
  // A fault of the leader often cuts the links to the others, too.
  if (type === 'crash' && fault.member === 'leader') {
    if (random.chance(0.6)) return undefined
    const length = duration(random, shape)
    const before = random.below(50)
    const cutOff = { type: 'cutOff', client: client(random, shape), way: 'both', for: length } as const
    return { at: Math.max(at - before, 0), fault: cutOff }
  }
  // A link that stalls in one direction often stalls in the other one before the first stall is over.
  if (type === 'stallLink') {
    if (random.chance(0.25)) return undefined
    const way = fault.way === 'toLeader' ? 'toFollower' : 'toLeader'
    const overlap = random.below(Math.ceil(fault.for / 4) + 1)
    return { at: at + fault.for - overlap, fault: { ...fault, way, for: overlap + fault.for } }
  }
  return undefined
}

const all = Object.keys(drawings) as FaultType[]

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

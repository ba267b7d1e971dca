// A history of plain calls, put together: the result of each call, the sessions, the connections.
import { type ReplyMessage, type RequestMessage, errorName } from '@zk/wire'
import type { LoggedTxn, Txn } from '@zk/testing'
import type { CallHappening, Outcome } from '../../../history/calls.ts'
import type { Received, Line, LookUp, Moment, Sent } from '../../../history/line.ts'
import { executedParts } from '../../../history/executed-parts.ts'
import { perPlayed } from '../../../history/per-played.ts'
import type { Played } from '../../../history/played.ts'
import { nodeOf, readBy } from '../../../play/paths.ts'
import type { Scenario } from '../../../scenario/scenario.ts'
import type { Call, CallingClient } from '../calls.ts'

type NoteOf<Type extends CallHappening['type']> = Extract<CallHappening, { type: Type }> & Moment

/** A request of a call on a connection. */
export interface Sending {
  readonly line: Line
  readonly sent: Sent & { readonly message: RequestMessage }
  /** undefined if no answer came. */
  reply: (Received & { readonly message: ReplyMessage }) | undefined
}

export interface CallStory {
  readonly plan: Call
  readonly called: NoteOf<'called'>
  settled: (Moment & { readonly outcome: Outcome }) | undefined
  readonly told: NoteOf<'told'>[]
  left: Moment | undefined
  readonly sendings: Sending[]
  /** The transactions that carried it out. */
  readonly applied: LoggedTxn[]
}

/** One session of a client. */
export interface Term {
  readonly client: number
  readonly term: number
  /** undefined if `connect` never resolved with it. */
  began: NoteOf<'began'> | undefined
  ended: NoteOf<'ended'> | undefined
  /** Its client closed it, or `connect` failed. */
  closing: Moment | undefined
  readonly lines: Line[]
  /** The connections on which it asked other servers whether they serve, beside its own. */
  readonly trials: Line[]
  readonly lookUps: LookUp[]
  readonly calls: CallStory[]
}

export interface Story {
  /** By their ids. */
  readonly calls: ReadonlyMap<number, CallStory>
  readonly terms: readonly Term[]
  /** The end of the checks of a client: by then everything must have happened. */
  readonly over: (client: number) => number
  /** How long its process stood still within that time, in ms. */
  readonly stood: (client: number, from: number, to: number) => number
  /** The T that was requested, in ms. Servers grant it. */
  readonly T: number
  /** How many servers the list of a client has. A name may have several addresses. undefined if it is given other lists. */
  readonly servers: (client: number) => number | undefined
}

export const storyOf = perPlayed(tell)

function tell(played: Played): Story {
  const { scenario, history, lines, lookUps, committed } = played
  const { clients } = scenario as Scenario<CallingClient>
  const plans = new Map(
    clients.flatMap(({ calls }) => calls.turns.flatMap(({ calls }) => calls)).map((call) => [call.id, call]),
  )
  const calls = new Map<number, CallStory>()
  const terms = new Map<string, Term>()
  const termOf = ({ client, term }: { readonly client: number; readonly term: number }): Term => {
    let found = terms.get(`${client} ${term}`)
    if (found === undefined) {
      found = {
        client,
        term,
        began: undefined,
        ended: undefined,
        closing: undefined,
        lines: [],
        trials: [],
        lookUps: [],
        calls: [],
      }
      terms.set(`${client} ${term}`, found)
    }
    return found
  }
  for (const each of history) {
    if (each.type === 'called') {
      const plan = plans.get(each.call)!
      const story = { plan, called: each, settled: undefined, told: [], left: undefined, sendings: [], applied: [] }
      calls.set(each.call, story)
      termOf(each).calls.push(story)
    }
    if (each.type === 'settled') calls.get(each.call)!.settled = each
    if (each.type === 'told') calls.get(each.call)!.told.push(each)
    if (each.type === 'left') calls.get(each.call)!.left ??= each
    if (each.type === 'began') termOf(each).began = each
    if (each.type === 'ended') termOf(each).ended = each
    if (each.type === 'closing') termOf(each).closing = each
    if (each.type === 'connected' && each.error !== undefined) {
      const failed = [...terms.values()].findLast(({ client }) => client === each.client)
      if (failed !== undefined) failed.closing = each
    }
    if (each.type === 'aborts') {
      // The signal ends a persistent watch, too.
      for (const call of calls.values()) {
        const isMeant = call.called.client === each.client && call.called.turn === each.turn && call.plan.aborts
        if (isMeant && call.plan.op === 'watch') call.left ??= each
      }
    }
    if (each.type === 'connecting') termOf(each)
  }
  const callOf = namer([...plans.values()])
  for (const lookUp of lookUps) termOf(lookUp).lookUps.push(lookUp)
  for (const line of lines) {
    const { lines, trials } = termOf(line)
    const isTrial = lines.some((own) => standsAt(own, line.dialed.order))
    if (isTrial) trials.push(line)
    else lines.push(line)
    for (const sending of sendingsOn(line)) {
      const call = callOf(sending.sent.message)
      if (call !== undefined) calls.get(call)?.sendings.push(sending)
    }
  }
  for (const logged of committed) {
    for (const call of writersOf(logged.txn, callOf)) calls.get(call)?.applied.push(logged)
  }
  return {
    calls,
    terms: [...terms.values()],
    over: endings(played),
    stood: standstills(played),
    T: scenario.sessionTimeout,
    servers: (client) => {
      if (scenario.clients[client]!.follows || scenario.faults.some(({ fault }) => fault.type === 'relist'))
        return undefined
      return scenario.network.names === 'one' ? 1 : scenario.ensemble.members
    },
  }
}

/** Whether the connection was ready by then, and not over. */
export function standsAt(line: Line, order: number): boolean {
  return (stoodSince(line)?.order ?? Infinity) < order && (line.ended?.order ?? Infinity) > order
}

const pairs = new WeakMap<Line, readonly Sending[]>()

/** The requests with their replies, without pings and handshakes. */
export function sendingsOn(line: Line): readonly Sending[] {
  let paired = pairs.get(line)
  if (paired === undefined) pairs.set(line, (paired = pair(line)))
  return paired
}

function pair(line: Line): Sending[] {
  const sendings: Sending[] = []
  const waiting: Sending[] = []
  for (const frame of line.frames) {
    const { message } = frame
    if (frame.way === 'up' && message?.type === 'request' && message.op !== 'ping') {
      const sending: Sending = { line, sent: { ...frame, message }, reply: undefined }
      sendings.push(sending)
      waiting.push(sending)
    } else if (frame.way === 'down' && message?.type === 'reply' && message.op !== 'ping') {
      const due = waiting.findIndex(({ sent }) => sent.message.xid === message.xid)
      const [answered] = due === -1 ? [] : waiting.splice(due, 1)
      if (answered !== undefined) answered.reply = { ...frame, message }
    }
  }
  return sendings
}

/** The answer to a handshake that grants or resumes a session; undefined for an attempt that failed earlier. */
export function grantedSince(line: Line): Line['frames'][number] | undefined {
  return otherSessionOn(line) === undefined ? line.frames.find(isAnswer) : undefined
}

const isAnswer = ({ message }: Line['frames'][number]): boolean =>
  message?.type === 'connected' && message.response.timeOut > 0

/** The answer to a handshake that does not resume the session, but begins another one. */
export function otherSessionOn({ frames }: Line): Line['frames'][number] | undefined {
  const asked = frames.find(({ message }) => message?.type === 'connect')?.message
  const answer = frames.find(isAnswer)
  if (asked?.type !== 'connect' || answer?.message?.type !== 'connected') return undefined
  const { sessionId } = asked.request
  return sessionId !== 0n && answer.message.response.sessionId !== sessionId ? answer : undefined
}

/**
 * The time when it was ready: with SASL, when server and client have proved their identities. undefined for an attempt that
 * failed.
 */
export const stoodSince = (line: Line): Moment | undefined =>
  line.usesSasl ? line.frames.find(isProof) : grantedSince(line)

/** Whether it is the last token of a server in DIGEST-MD5. */
function isProof({ message }: Line['frames'][number]): boolean {
  if (message?.type !== 'reply' || message.op !== 'sasl' || message.err !== 0) return false
  const { token } = message.response as { readonly token: Uint8Array | null }
  return token !== null && utf8.decode(token).startsWith('rspauth=')
}

/** The id of the session that a connection was granted. */
export function sessionOn(line: Line): bigint | undefined {
  const granted = grantedSince(line)?.message
  return granted?.type === 'connected' ? granted.response.sessionId : undefined
}

/** Finds the call of a request, or of a part of one. */
type Namer = (message: Pick<RequestMessage, 'op' | 'request'>) => number | undefined

const utf8 = new TextDecoder()

function namer(plans: readonly Call[]): Namer {
  const deleting = new Map(plans.filter(({ op }) => op === 'delete').map(({ id, on }) => [nodeOf(on), id]))
  const reading = new Map(plans.map((plan) => [readBy(plan), plan.id]))
  return ({ op, request }) => {
    if (op === 'create' || op === 'create2' || op === 'setData') return numberIn(request as Body)
    if (op === 'multi')
      return (request as readonly { request: Body }[]).map((part) => numberIn(part.request)).find(Number.isInteger)
    if (op === 'delete') return deleting.get((request as Body).path)
    return reads.has(op) ? reading.get((request as Body).path) : undefined
  }
}

const reads: ReadonlySet<string | undefined> = new Set([
  'getData',
  'exists',
  'getChildren',
  'getChildren2',
  'sync',
  'addWatch',
])

interface Body {
  readonly path: string
  readonly data?: Uint8Array
}

function numberIn({ data }: Body): number | undefined {
  return data && Number(utf8.decode(data))
}

/** The calls whose writes a transaction carries out. An operator's have no number. */
function writersOf(txn: Txn, callOf: Namer): readonly number[] {
  switch (txn.type) {
    case 'create':
    case 'setData': {
      const text = txn.data === null ? '' : utf8.decode(txn.data)
      return /^\d+ *$/.test(text) ? [Number(text)] : []
    }
    case 'delete': {
      const call = callOf({ op: 'delete', request: { path: txn.path, version: -1 } })
      return call === undefined ? [] : [call]
    }
    case 'multi':
      return executedParts(txn).flatMap((each) => writersOf(each, callOf))
    case 'setACL':
    case 'check':
    case 'createSession':
    case 'closeSession':
    case 'presetCounter':
    case 'error':
      return []
  }
}

function endings({ history, end }: Played): Story['over'] {
  const killed = new Map(history.flatMap((each) => (each.type === 'killed' ? [[each.client, each.at]] : [])))
  const last = Math.max(end.at, history.at(-1)?.at ?? 0)
  return (client) => killed.get(client) ?? last
}

function standstills({ history }: Played): Story['stood'] {
  const stalls: { readonly client: number; readonly from: number; to: number }[] = []
  for (const each of history) {
    if (each.type === 'stalled') stalls.push({ client: each.client, from: each.at, to: Infinity })
    if (each.type === 'awake') stalls.findLast(({ client }) => client === each.client)!.to = each.at
  }
  return (owner, from, to) =>
    stalls
      .filter(({ client }) => client === owner)
      .reduce((sum, stall) => sum + Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)), 0)
}

/** An error code that is not known here. */
export const isUnknown = (err: number): boolean => errorName(err) === undefined

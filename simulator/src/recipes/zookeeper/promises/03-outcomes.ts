import { ErrorCode } from '@zk/wire'
import { WALL_START } from '@zk/testing/internal'
import { isWrite } from '../calls.ts'
import type { FaultType } from '../../../scenario/fault.ts'
import type { Played } from '../../../history/played.ts'
import type { Check, Violation } from '../../../checks/check.ts'
import { harmless } from '../../../checks/healthy-sessions.ts'
import { type CallStory, type Sending, sendingsOn, storyOf, type Term } from './story.ts'

/**
 * P3: an error shows whether the write may have happened. `outcomeUnknown` is true exactly for a write whose bytes were
 * handed to the socket, and that was not answered. Any other failed write was never applied. No write is sent or applied
 * twice. A write that succeeded was applied. Reads are repeated without notice. They show the writes before them, also
 * unanswered ones, and return what was written to their own node. What servers refuse by closing the connection costs three
 * connections at most.
 */
export const outcomes: Check = (played) => {
  const { terms, calls } = storyOf(played)
  const isStale = played.scenario.faults.some(({ fault }) => leavesStaleLeaders.includes(fault.type))
  return terms.flatMap((term) => [
    ...term.calls.flatMap((call) => [...outcomeOf(call), ...timesOf(call), ...textOf(call, calls)]),
    ...tooLarge(term, played),
    ...(isStale ? [] : readsBehindUnknownWrites(term)),
  ])
}

/** A sync proves nothing if the leader that answers it has been replaced and does not know it. */
const leavesStaleLeaders: readonly FaultType[] = ['isolateLeader', 'freeze']

function outcomeOf(call: CallStory): Violation[] {
  const { plan, settled, applied } = call
  const wrong = violation(call)
  if (settled === undefined || isIllegible(call)) return []
  const { outcome } = settled
  if (outcome.how === 'resolved') {
    return isWrite(plan.op) && applied.length === 0 ? wrong('succeeded and was not applied') : []
  }
  if (outcome.how === 'aborted') return plan.aborts ? [] : wrong('was aborted without a signal')
  const isUnknown = isWrite(plan.op) && isUnanswered(call)
  if (outcome.outcomeUnknown !== isUnknown) {
    return wrong(`says ${outcome.code} and outcomeUnknown ${outcome.outcomeUnknown}`)
  }
  if (outcome.code === 'ConnectionLoss' && !isUnknown) return wrong('was lost with its connection')
  if (!outcome.outcomeUnknown && applied.length > 0) return wrong(`says ${outcome.code}, and was applied`)
  return []
}

/** After an unreadable answer that no call waits for, the client goes on, but the wiretap cannot. */
function isIllegible({ sendings, settled }: CallStory): boolean {
  const frames = sendings.at(-1)?.line.frames ?? []
  return frames.some(({ way, message, order }) => way === 'down' && message === undefined && order < settled!.order)
}

/**
 * Whether the write was applied by the time it settled. A write whose session has moved gets no answer, and may be applied.
 */
function isUnanswered({ sendings, settled }: CallStory): boolean {
  const last = sendings.at(-1)
  if (last === undefined) return false
  const { reply, line } = last
  // After an answer for which the client leaves its server nothing more is read.
  const isLeft = line.ended?.by === 'client' && line.ended.step === reply?.step
  const { outcome } = settled!
  if (isLeft && outcome.how === 'rejected' && outcome.code === 'ConnectionLoss') return true
  return reply === undefined || reply.order > settled!.order || reply.message.err === ErrorCode.SessionMoved
}

function timesOf(call: CallStory): Violation[] {
  const { plan, applied, settled, sendings, called } = call
  const wrong = violation(call)
  if (applied.length > 1) return wrong(`was applied ${applied.length} times`)
  const inSession = sendings.filter(({ line }) => line.term === called.term)
  const isAgain = (_: Sending, index: number) =>
    index > 0 && inSession[index - 1]!.reply?.message.err !== ErrorCode.ThrottledOp
  if (isWrite(plan.op) && inSession.some(isAgain)) return wrong('writes, and was sent twice')
  if (inSession.some(({ sent }) => sent.order > (settled?.order ?? Infinity)))
    return wrong('was sent when it was settled')
  return []
}

/** A read returns what a call wrote to this node, or the data before all calls: none. */
function textOf(call: CallStory, calls: ReadonlyMap<number, CallStory>): Violation[] {
  const { plan, settled } = call
  if (settled?.outcome.how !== 'resolved') return []
  const { text = '' } = settled.outcome
  if (text === '' || calls.get(Number(text))?.plan.on === plan.id) return []
  return violation(call)(`was answered with ${text}, which was never written there`)
}

/** Connections that are lost by faults do not show that servers refuse the request. */
function tooLarge({ client, calls, lines }: Term, { scenario }: Played): Violation[] {
  const { juteMaxBuffer = Infinity } = scenario.ensemble
  const most = MOST_REFUSALS + scenario.faults.filter(({ fault }) => !harmless.includes(fault.type)).length
  const batches = lines.filter((line) => line.ended?.by === 'peer' && sendingsOn(line).some(isUnansweredBatch)).length
  const inLoop: Violation[] =
    batches > most ? [{ invariant: 'P3', at: undefined, what: `client ${client} sent ${batches} batches in vain` }] : []
  const inVain = calls
    .filter(({ plan, sendings }) => (plan.bytes ?? 0) > juteMaxBuffer && sendings.length > most)
    .flatMap((call) => violation(call)(`was sent ${call.sendings.length} times to servers that refuse it`))
  return [...inLoop, ...inVain]
}

function isUnansweredBatch({ sent, reply }: Sending): boolean {
  return reply === undefined && (sent.message.op === 'setWatches' || sent.message.op === 'setWatches2')
}

const MOST_REFUSALS = 3

function readsBehindUnknownWrites({ lines, calls }: Term): Violation[] {
  const left = calls.flatMap(({ plan, applied, sendings }) => {
    const last = sendings.at(-1)
    const [done] = applied
    return isWrite(plan.op) && last !== undefined && last.reply === undefined && done !== undefined
      ? [{ id: plan.id, line: last.line, zxid: done.header.zxid, at: done.header.time - WALL_START }]
      : []
  })
  return left.flatMap(({ id, line, zxid, at }) => {
    // The server's clock shows whole milliseconds.
    const later = new Set(lines.filter(({ dialed }) => dialed.order > line.dialed.order && dialed.at > at + 1))
    return calls.flatMap((call) => {
      const stale = call.sendings.find(
        ({ line, reply }) => later.has(line) && reply !== undefined && reply.message.zxid < zxid,
      )
      if (isWrite(call.plan.op) || stale === undefined) return []
      return violation(call)(`was answered by a server that did not know the write of call ${id}`)
    })
  })
}

function violation({ plan, settled, called }: CallStory): (what: string) => Violation[] {
  return (what) => [{ invariant: 'P3', at: (settled ?? called).at, what: `call ${plan.id} (${plan.op}) ${what}` }]
}

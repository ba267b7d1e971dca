import { ErrorCode } from '@zk/wire'
import type { Check, Violation } from '../../../checks/check.ts'
import { type CallStory, type Sending, sendingsOn, stoodSince, storyOf, type Term } from './story.ts'

/**
 * P1: call order is wire order. In a session no call is sent for the first time before an earlier call, on one connection or
 * over several. On each connection calls are in the order in which they were made. The calls of one turn leave in one
 * segment, and at once if nothing holds them back.
 *
 * A call that a busy server has put off (`ThrottledOp`) was overtaken by calls in flight, as documented, and is left out.
 */
export const callOrder: Check = (played) =>
  storyOf(played).terms.flatMap((term) => [...firstTimes(term), ...onEachLine(term), ...segments(term)])

interface Left {
  readonly call: CallStory
  readonly sending: Sending
}

/** The requests of calls on the connections of the session, in order. */
function callsSent({ term, calls }: Term): Left[] {
  return calls
    .flatMap((call) => call.sendings.map((sending) => ({ call, sending })))
    .filter(({ sending }) => sending.line.term === term)
    .sort((one, other) => one.sending.sent.order - other.sending.sent.order)
}

function firstTimes(term: Term): Violation[] {
  const known = new Set<CallStory>()
  const first = callsSent(term).filter(({ call }) => !known.has(call) && known.add(call))
  return outOfOrder(first, 'was sent, for the first time,')
}

function onEachLine(term: Term): Violation[] {
  const all = callsSent(term)
  return term.lines.flatMap((line) => {
    const here = all.filter(({ sending }) => sending.line === line)
    const putOff = new Set(here.filter(({ sending }) => isThrottled(sending)).map(({ call }) => call))
    return outOfOrder(
      here.filter(({ call }) => !putOff.has(call)),
      'was sent',
    )
  })
}

function outOfOrder(sent: readonly Left[], how: string): Violation[] {
  return sent.slice(1).flatMap(({ call, sending }, index) => {
    const before = sent[index]!.call
    if (before.called.order < call.called.order) return []
    const what = `call ${before.plan.id} ${how} before call ${call.plan.id}, which was made earlier`
    return [{ invariant: 'P1' as const, at: sending.sent.at, what }]
  })
}

function segments(term: Term): Violation[] {
  const sent = callsSent(term)
  return sent.flatMap(({ call, sending }, index): Violation[] => {
    const before = sent[index - 1]
    const wrong = (what: string): Violation[] => [{ invariant: 'P1', at: sending.sent.at, what }]
    const isBehind = before?.call.called.turn === call.called.turn && before.sending.sent.step === sending.sent.step
    if (isBehind && before.sending.sent.segment !== sending.sent.segment) {
      return wrong(`calls ${before.call.plan.id} and ${call.plan.id} of one turn left apart`)
    }
    const isLate = sending === call.sendings[0] && sending.sent.step !== call.called.step
    if (isLate && nothingHeldBack(call, term)) return wrong(`call ${call.plan.id} was not sent at once`)
    return []
  })
}

/** Whether a connection was open when the call was made, and nothing waited before it. */
function nothingHeldBack({ called }: CallStory, { lines, calls }: Term): boolean {
  const line = lines.find(({ ended }) => ended === undefined || ended.order > called.order)
  const since = line && stoodSince(line)
  if (since === undefined || since.order > called.order) return false
  const earlier = calls.filter((call) => call.called.order < called.order)
  const isFirst = earlier.every(({ sendings, settled }) => {
    return (settled ?? called).order < called.order || (sendings[0]?.sent.order ?? Infinity) < called.order
  })
  // Internal requests of the session count, too: they may be put off, and use a place in flight.
  const all = sendingsOn(line!)
  const wasHeldBack = all.some(isThrottled)
  const inFlight = all.some(({ sent, reply }) => {
    return sent.order < called.order && (reply?.order ?? Infinity) > called.order
  })
  return !wasHeldBack && isFirst && !inFlight
}

function isThrottled({ reply }: Sending): boolean {
  return reply?.message.err === ErrorCode.ThrottledOp
}

import { ErrorCode } from '@zk/wire'
import type { Moment } from '../../../history/line.ts'
import { watchesOnce } from '../calls.ts'
import type { Check, Violation } from '../../../checks/check.ts'
import { type CallStory, otherSessionOn, sessionOn, storyOf, type Term } from './story.ts'

/**
 * P7: an expired session is never hidden. It ends when a server reports the end. At once all its calls reject with
 * `SessionExpired`, and its watches are notified. So it does when a server answers with another session, which is closed at
 * once. Another session follows. A call is sent in the session in which it was made, or not at all. It rejects at once if
 * that session has ended.
 */
export const expiry: Check = (played) =>
  storyOf(played).terms.flatMap((term, _, terms) => [
    ...hidden(term),
    ...keepsOther(term),
    ...(term.ended?.code === 'SessionExpired' ? [...atTheEnd(term, term.ended), ...followed(term, terms)] : []),
    ...(term.ended === undefined ? [] : madeTooLate(term, term.ended)),
    ...elsewhere(term),
  ])

/** The end that a server has reported. */
function hidden({ client, lines, ended, began, closing }: Term): Violation[] {
  if (began === undefined) return []
  return lines.flatMap((line) =>
    line.frames.flatMap((frame): Violation[] => {
      const { message } = frame
      if (frame.way === 'up' || message === undefined) return []
      const isEnd =
        frame === otherSessionOn(line) ||
        (message.type === 'connected' && message.response.timeOut <= 0) ||
        (message.type === 'reply' && message.err === ErrorCode.SessionExpired)
      if (!isEnd || ended?.step === frame.step || (closing?.order ?? Infinity) < frame.order) return []
      return [{ invariant: 'P7', at: frame.at, what: `client ${client} was told that its session has expired` }]
    }),
  )
}

/** The sessions that servers gave in place of the own one. */
function keepsOther({ client, lines }: Term): Violation[] {
  return lines.flatMap((line): Violation[] => {
    const answer = otherSessionOn(line)
    const isClosed = line.frames.some(
      ({ step, message }) => step === answer?.step && message?.type === 'request' && message.op === 'closeSession',
    )
    if (answer === undefined || isClosed) return []
    return [{ invariant: 'P7', at: answer.at, what: `client ${client} does not close a session that is not its own` }]
  })
}

function atTheEnd({ calls }: Term, ended: Moment): Violation[] {
  return calls.flatMap((call): Violation[] => {
    const { plan, called, settled, told, left } = call
    const wrong = (what: string): Violation[] => [{ invariant: 'P7', at: ended.at, what: `call ${plan.id} ${what}` }]
    if (called.order > ended.order) return []
    if (settled === undefined || settled.order > ended.order) {
      const isNotified = settled?.step === ended.step && settled.outcome.how !== 'resolved'
      return isNotified && isExpired(call) ? [] : wrong('does not know that its session has expired')
    }
    if (settled.outcome.how !== 'resolved' || (left?.order ?? Infinity) < ended.order) return []
    // A persistent watch goes on in the next session, unless its call is pinned to this one.
    const isOnce = watchesOnce(plan.op)
    const isOver = isOnce || (plan.op === 'watch' && plan.pinned)
    const isNotified = told.some(({ step, order, what }) => {
      return step === ended.step ? isOnce || what === 'SessionEnded' : isOnce && order < ended.order
    })
    return !isOver || isNotified ? [] : wrong('watches, and does not know that its session has expired')
  })
}

/** The calls of a session that has ended, or was closed. */
function madeTooLate({ calls }: Term, { order, code }: NonNullable<Term['ended']>): Violation[] {
  return calls.flatMap(({ plan, called, settled }): Violation[] => {
    if (called.order < order) return []
    const outcome = settled?.step === called.step ? settled.outcome : undefined
    if (outcome?.how === 'aborted' || (outcome?.how === 'rejected' && outcome.code === code)) return []
    return [{ invariant: 'P7', at: called.at, what: `call ${plan.id} was not told at once: ${code}` }]
  })
}

/** A call that timed out or was aborted in the same instant may report that instead. */
function isExpired({ settled }: CallStory): boolean {
  const { outcome } = settled!
  return outcome.how !== 'rejected' || outcome.code === 'SessionExpired' || outcome.code === 'RequestTimeout'
}

function followed({ client, term }: Term, terms: readonly Term[]): Violation[] {
  const next = terms.find((each) => each.client === client && each.term === term + 1)
  return next?.began === undefined
    ? [{ invariant: 'P7', at: undefined, what: `no session follows ${term} of client ${client}` }]
    : []
}

/** Whether it was sent in another session than its own. A persistent watch is set again in the next one. */
function elsewhere({ term, lines, calls }: Term): Violation[] {
  const own = new Set(lines.flatMap((line) => sessionOn(line) ?? []))
  const several: Violation[] =
    own.size > 1 ? [{ invariant: 'P7', at: undefined, what: `one session has ids ${[...own].join(', ')}` }] : []
  const sent = calls
    .filter(({ plan }) => plan.op !== 'watch' || plan.pinned)
    .flatMap(({ plan, sendings }) => sendings.map((sending) => ({ plan, sending })))
    .filter(({ sending }) => sending.line.term !== term)
  return [
    ...several,
    ...sent.map(({ plan, sending }) => ({
      invariant: 'P7' as const,
      at: sending.sent.at,
      what: `call ${plan.id} was sent in a session that it was not made in`,
    })),
  ]
}

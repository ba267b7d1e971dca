import { ErrorCode, eventName } from '@zk/wire'
import type { Received, Line } from '../../../history/line.ts'
import type { Check, Violation } from '../../../checks/check.ts'
import { type CallStory, storyOf, type Story } from './story.ts'

/**
 * P2: events and replies settle in the order in which the server sent them, and at once. The promises of a frame are settled
 * when the event that brought the frame is drained, after those of all earlier frames.
 */
export const serverOrder: Check = (played) => {
  const story = storyOf(played)
  /** The notifications that are known to come from an event, by their place. */
  const taken = new Set<number>()
  return played.lines.flatMap((line) => {
    let last = -1
    return line.frames.flatMap((frame): Violation[] => {
      if (frame.way === 'up') return []
      const orders = settledBy(frame, line, story, taken)
      const isLate = orders.some((order) => order < last)
      last = Math.max(last, ...orders)
      if (!isLate) return []
      return [{ invariant: 'P2', at: frame.at, what: `${nameOf(frame)} was told before something that came before it` }]
    })
  })
}

/** The notifications and results of this frame. */
function settledBy(frame: Received, line: Line, { calls }: Story, taken: Set<number>): number[] {
  const { message } = frame
  const mine = [...calls.values()].filter(({ called }) => called.client === line.client)
  if (message?.type === 'reply') return mine.flatMap((call) => repliedBy(frame, call))
  if (message?.type !== 'event') return []
  const type = eventName(message.event.type)
  return mine.flatMap(({ told, settled }) => {
    // A caller that gets the promise of an event at the same time learns of the event only then.
    if (settled?.step === frame.step) return []
    const due = told.find(({ what, path, step, order }) => {
      return step === frame.step && what === type && path === message.event.path && !taken.has(order)
    })
    if (due === undefined) return []
    taken.add(due.order)
    return [due.order]
  })
}

function repliedBy(frame: Received, { sendings, settled }: CallStory): number[] {
  const { reply } = sendings.find(({ reply }) => reply?.order === frame.order) ?? {}
  // A request that a busy server puts off is settled by another frame.
  if (reply === undefined || reply.message.err === ErrorCode.ThrottledOp) return []
  return settled?.step === frame.step && settled.order > frame.order ? [settled.order] : []
}

const nameOf = ({ message }: Received): string => (message?.type === 'reply' ? `the reply ${message.xid}` : 'an event')

import { ErrorCode } from '@zk/wire'
import type { Check, Violation } from '../../../checks/check.ts'
import { earliest, latest } from './patience.ts'
import { grantedSince, otherSessionOn, type Story, storyOf, type Term } from './story.ts'

/** Local expiry: 4/3 T without a message. */
const LOCAL_EXPIRY = 4 / 3

/**
 * P8: a session without a valid message for 4/3 T has ended for its user, whether or not a server could be reached. No
 * session ends by that clock earlier.
 */
export const localExpiry: Check = (played) => {
  const story = storyOf(played)
  return story.terms.flatMap((term) => endOf(term, story))
}

function endOf({ client, lines, ended, closing, began }: Term, story: Story): Violation[] {
  const received = lines.flatMap((line) => {
    const since = grantedSince(line)
    if (since === undefined) return []
    return line.frames.filter(
      ({ way, message, order }) => way === 'down' && message !== undefined && order >= since.order,
    )
  })
  const first = received[0]
  if (first === undefined || began === undefined) return []
  const times = received.map(({ at }) => at)
  const end = Math.min(ended?.at ?? Infinity, closing?.at ?? Infinity, story.over(client))
  const after = LOCAL_EXPIRY * story.T
  const silence = [...times.slice(1), end].findIndex(
    (at, index) => at > latest(story, client, times[index]!, after, at),
  )
  const wrong = (at: number, what: string): Violation[] => [{ invariant: 'P8', at, what: `client ${client}: ${what}` }]
  if (silence !== -1) return wrong(times[silence]!, 'its session outlived 4/3 T of silence')
  if (ended?.code !== 'SessionExpired' || isSaid(lines, ended.step)) return []
  return ended.at < earliest(times.at(-1)!, after) ? wrong(ended.at, 'its session ended before 4/3 T had passed') : []
}

/** Whether a server reported the end at that time. */
function isSaid(lines: Term['lines'], then: number): boolean {
  return lines.some((line) =>
    line.frames.some((frame) => {
      const { step, message } = frame
      if (step !== then || message === undefined) return false
      if (frame === otherSessionOn(line)) return true
      return message.type === 'connected'
        ? message.response.timeOut <= 0
        : message.type === 'reply' && message.err === ErrorCode.SessionExpired
    }),
  )
}

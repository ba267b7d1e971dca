import type { Check, Violation } from '../../../checks/check.ts'
import type { Line, Moment } from '../../../history/line.ts'
import { type CallStory, sendingsOn, storyOf } from './story.ts'

/**
 * P9: a server that breaks the protocol costs its connection, at once, and nothing else: not the session. (An uncaught error
 * ends the history. When no caller waits for a reply any more, only its header is read.)
 */
export const brokenServers: Check = (played) =>
  storyOf(played).terms.flatMap(({ client, lines, calls, ended, closing }) =>
    lines.flatMap((line): Violation[] => {
      const broken = line.frames.find(({ way, message }) => way === 'down' && message === undefined)
      if (broken === undefined || isForNobody(broken, line, calls)) return []
      const wrong = (what: string): Violation[] => [
        { invariant: 'P9', at: broken.at, what: `client ${client}: ${line.server} broke the protocol, ${what}` },
      ]
      if (line.ended?.step !== broken.step) return wrong('and the connection stays')
      return ended?.step === broken.step && closing === undefined ? wrong('and the session ended') : []
    }),
  )

/** Whether the request of this reply was settled earlier: by its timeout, or its signal. */
function isForNobody({ order }: Moment, line: Line, calls: readonly CallStory[]): boolean {
  const due = sendingsOn(line).find(({ sent, reply }) => sent.order < order && (reply?.order ?? Infinity) > order)
  const call = calls.find(({ sendings }) => sendings.some(({ sent }) => sent.order === due?.sent.order))
  return (call?.settled?.order ?? Infinity) < order
}

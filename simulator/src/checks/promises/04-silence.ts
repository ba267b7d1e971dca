import type { Line, Moment } from '../../history/line.ts'
import type { Check, Violation } from '../check.ts'
import { earliest, latest } from './patience.ts'
import { sendingsOn, stoodSince, type Story, storyOf, type Term } from './story.ts'

/** The shortest time for an attempt, whatever T is, in ms (`deadlines.ts`). */
const SHORTEST_CONNECT = 200

/**
 * P4: silence is noticed. A connection is given up when no whole frame came, or its oldest request was not answered, for 2/3
 * T, and not earlier without another reason. An attempt gets T / number of servers, and so does the look-up before it. Every
 * server is tried before one is tried again. The next attempt comes within T/10.
 */
export const silence: Check = (played) => {
  const story = storyOf(played)
  return story.terms.flatMap((term) => [
    ...term.lines.flatMap((line) =>
      stoodSince(line) === undefined ? attempt(line, story) : silent(line, term, story),
    ),
    ...rounds(term, story),
    ...pauses(term, story),
  ])
}

const longestAttempt = ({ T, servers }: Story): number => Math.max(T / servers, SHORTEST_CONNECT)

function attempt({ client, server, dialed, ended }: Line, story: Story): Violation[] {
  const until = ended?.at ?? story.over(client)
  const by = latest(story, client, dialed.at, longestAttempt(story), until)
  return until > by ? [{ invariant: 'P4', at: by, what: `client ${client} still tries ${server}` }] : []
}

function silent(line: Line, { ended, closing }: Term, story: Story): Violation[] {
  const { client, server, frames } = line
  const { T } = story
  const since = stoodSince(line)!
  const until = line.ended?.at ?? story.over(client)
  const received = frames.filter(
    ({ way, message, order }) => way === 'down' && message !== undefined && order >= since.order,
  )
  const times = received.map(({ at }) => at)
  const gap = [...times.slice(1), until].findIndex((at, index) => {
    return at > latest(story, client, times[index]!, (2 * T) / 3, at)
  })
  const wrong = (at: number, what: string): Violation[] => [
    { invariant: 'P4', at, what: `client ${client} at ${server}: ${what}` },
  ]
  if (gap !== -1) return wrong(times[gap]!, 'nothing was received for more than 2/3 T')
  // Credentials are answered apart, and nothing waits for them. An answer that cannot be read counts, too.
  const unread = frames.find(({ way, message }) => way === 'down' && message === undefined)?.order ?? Infinity
  const asked = sendingsOn(line).filter(({ sent }) => sent.message.op !== 'auth' && sent.order < unread)
  const unanswered = asked.find(({ sent, reply }) => {
    if (reply === undefined && unread < Infinity) return false
    const answered = reply?.at ?? until
    return answered > latest(story, client, sent.at, (2 * T) / 3, answered)
  })
  if (unanswered !== undefined) return wrong(unanswered.sent.at, 'was not answered for more than 2/3 T')
  if (line.ended?.by !== 'client') return []
  const isOver = ended?.step === line.ended.step || closing !== undefined
  const isBroken = frames.some(({ step, message }) => step === line.ended!.step && isReason(message))
  const oldest = asked.find(({ reply }) => reply === undefined)?.sent.at ?? Infinity
  const pinged = frames.findLast(({ message }) => message?.type === 'request' && message.op === 'ping')?.at ?? Infinity
  const quietSince = Math.min(times.at(-1)!, oldest, pinged)
  if (isOver || isBroken || until >= earliest(quietSince, (2 * T) / 3)) return []
  return wrong(until, 'was left for no reason')
}

/** Whether a message makes the client leave: bytes that are no message, and refusals of requests that must come first. */
function isReason(message: Line['frames'][number]['message']): boolean {
  return message === undefined || (message.type === 'reply' && message.err !== 0)
}

/** Rounds of failed attempts: as many in a row as there are servers. */
function rounds(term: Term, { servers }: Story): Violation[] {
  const attempts = attemptsOf(term)
  return attempts.flatMap(({ at }, index): Violation[] => {
    const round = attempts.slice(index, index + servers)
    const isWhole = round.length === servers && round.every(({ hasFailed }) => hasFailed)
    if (!isWhole || new Set(round.map(({ server }) => server)).size === servers) return []
    return [{ invariant: 'P4', at, what: `client ${term.client} does not try every server` }]
  })
}

/** Each attempt is at one server. Where its name was looked up, it includes all addresses. */
function attemptsOf({ lines, lookUps }: Term) {
  const failed = (those: readonly Line[]) => those.every((line) => stoodSince(line) === undefined)
  if (lookUps.length === 0) {
    return lines.map((line) => ({ server: line.server, at: line.dialed.at, hasFailed: failed([line]) }))
  }
  return lookUps.map(({ server, asked }, index) => {
    const next = lookUps[index + 1]?.asked.order ?? Infinity
    const hasFailed = failed(lines.filter(({ dialed }) => dialed.order > asked.order && dialed.order < next))
    return { server, at: asked.at, hasFailed }
  })
}

/** After each connection, and each look-up, the next one comes soon. */
function pauses(term: Term, story: Story): Violation[] {
  const { client, lines, lookUps, ended, closing } = term
  if (closing !== undefined) return []
  const begun = [...lines.map(({ dialed }) => dialed), ...lookUps.map(({ asked }) => asked)]
  begun.sort((one, other) => one.order - other.order)
  const { T } = story
  const wrongBehind = ({ order }: Moment, byAt: (next: number) => number): Violation[] => {
    const next = begun.find((each) => each.order > order)?.at ?? ended?.at ?? story.over(client)
    const by = byAt(next)
    return next <= by ? [] : [{ invariant: 'P4', at: by, what: `client ${client} does not look for a server` }]
  }
  return [
    ...lines.flatMap((line) => {
      const left = line.ended
      return left === undefined ? [] : wrongBehind(left, (next) => latest(story, client, left.at, T / 10, next))
    }),
    ...lookUps.flatMap(({ asked, answered }) =>
      wrongBehind(asked, (next) => {
        const givenUp = latest(story, client, asked.at, longestAttempt(story) + T / 10, next)
        return answered === undefined ? givenUp : Math.min(givenUp, latest(story, client, answered.at, T / 10, next))
      }),
    ),
  ]
}

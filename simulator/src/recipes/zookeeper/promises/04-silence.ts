import type { Line, Moment } from '../../../history/line.ts'
import type { Check, Violation } from '../../../checks/check.ts'
import { earliest, latest } from './patience.ts'
import { sendingsOn, standsAt, stoodSince, type Story, storyOf, type Term } from './story.ts'

/** The time that every attempt has, in ms, if it is no more than T/3, and the shortest whatever T is (`deadlines.ts`). */
const ENOUGH_TO_CONNECT = 1_000
const SHORTEST_CONNECT = 200
const LEAST_SHARES = 3

/**
 * P4: silence is noticed. A connection is given up when no whole frame came, or its oldest request was not answered, for 2/3
 * T, and not earlier without another reason: for a server of a new list it is left when that one has answered. An attempt gets
 * T / number of servers, at most T/3, or a second where that is longer, which doubles with each failed round. Every server is
 * tried before one is tried again. The next attempt comes within T/10. A look-up that takes long delays it as long as no
 * address is known, and otherwise by half of an attempt, or a second, for each server.
 */
export const silence: Check = (played) => {
  const story = storyOf(played)
  return story.terms.flatMap((term) => [
    ...term.lines.flatMap((line) =>
      stoodSince(line) === undefined ? attempt(line, term, story) : silent(line, term, story),
    ),
    ...rounds(term, story),
    ...pauses(term, story),
  ])
}

function longestAttempt({ T, servers }: Story, client: number, failedRounds: number): number {
  const enough = Math.min(ENOUGH_TO_CONNECT, T / 3) * 2 ** failedRounds
  return Math.max(Math.min(Math.max(T / Math.max(servers(client) ?? 1, LEAST_SHARES), enough), T), SHORTEST_CONNECT)
}

function attempt(line: Line, { lines, lookUps }: Term, story: Story): Violation[] {
  const { client, server, dialed, ended, frames } = line
  // The answer was another session, which the client closes before it leaves.
  const parted = frames.find(({ message }) => message?.type === 'request' && message.op === 'closeSession')
  const before = lines.indexOf(line)
  // A look-up that fails is a part of a round, too.
  const failedRounds = lookUps.length > 0 ? before : Math.floor(before / (story.servers(client) ?? 1))
  const until = parted?.at ?? ended?.at ?? story.over(client)
  const by = latest(story, client, dialed.at, longestAttempt(story, client, failedRounds), until)
  return until > by ? [{ invariant: 'P4', at: by, what: `client ${client} still tries ${server}` }] : []
}

function silent(line: Line, { ended, closing, trials }: Term, story: Story): Violation[] {
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
  const moves = trials.some(({ frames }) =>
    frames.some(({ way, message, order }) => {
      return way === 'down' && message !== undefined && order > since.order && order < line.ended!.order
    }),
  )
  const quietSince = Math.min(times.at(-1)!, oldest, pinged)
  if (isOver || isBroken || moves || until >= earliest(quietSince, (2 * T) / 3)) return []
  return wrong(until, 'was left for no reason')
}

/** Whether a message makes the client leave: bytes that are no message, and refusals of requests that must come first. */
function isReason(message: Line['frames'][number]['message']): boolean {
  return message === undefined || (message.type === 'reply' && message.err !== 0)
}

/** Rounds of failed attempts: as many in a row as there are servers. With names, some attempts fail before they dial. */
function rounds({ client, lines, lookUps }: Term, story: Story): Violation[] {
  const servers = story.servers(client)
  if (servers === undefined || lookUps.length > 0) return []
  return lines.flatMap(({ dialed }, index): Violation[] => {
    const round = lines.slice(index, index + servers)
    const isWhole = round.length === servers && round.every((line) => stoodSince(line) === undefined)
    if (!isWhole || new Set(round.map(({ server }) => server)).size === servers) return []
    return [{ invariant: 'P4', at: dialed.at, what: `client ${client} does not try every server` }]
  })
}

/** As long as an attempt waits for a look-up, in ms (`deadlines.ts`). */
const LONGEST_LOOK_UP = 1_000
/** A list that replaces another has three servers at most; those of the list before are tried as well. */
const MOST_SERVERS = 6

/** After each connection, and each look-up without one, the next attempt comes soon. */
function pauses(term: Term, story: Story): Violation[] {
  const { client, lines, lookUps, ended, closing } = term
  if (closing !== undefined) return []
  const begun = [...lines.map(({ dialed }) => dialed), ...lookUps.map(({ asked }) => asked)]
  begun.sort((one, other) => one.order - other.order)
  const { T } = story
  const all = story.terms.filter((each) => each.client === client)
  const ofClient = all.flatMap(({ lookUps }) => lookUps)
  const firstDialed = Math.min(...all.flatMap(({ lines }) => lines.map(({ dialed }) => dialed.order)))
  const perLookUp = Math.min(LONGEST_LOOK_UP, longestAttempt(story, client, Infinity) / 2)
  const servers = story.servers(client) ?? MOST_SERVERS
  const isSearching = ({ order }: Moment) => !lines.some((line) => standsAt(line, order))
  return [...lines.flatMap((line) => line.ended ?? []), ...lookUps.map(({ asked }) => asked)].flatMap((left) => {
    const next = begun.find((each) => each.order > left.order)?.at ?? ended?.at ?? story.over(client)
    const underWay = ofClient.filter(
      ({ asked, answered }) => asked.at <= next && (answered?.order ?? Infinity) > left.order,
    )
    const isKnown = firstDialed <= left.order
    const answered = Math.min(...underWay.map((each) => each.answered?.at ?? Infinity))
    const from = underWay.length > 0 && !isKnown ? answered : left.at
    const delay = underWay.length > 0 && isKnown ? T / 10 + servers * perLookUp : 0
    const by = latest(story, client, from, T / 10 + delay, next)
    if (next <= by || !isSearching(left)) return []
    return [{ invariant: 'P4', at: by, what: `client ${client} does not look for a server` }]
  })
}

import type { Line } from '../../../history/line.ts'
import { readBy } from '../../../play/paths.ts'
import { watchesOnce } from '../calls.ts'
import type { Check, Violation } from '../../../checks/check.ts'
import { type CallStory, type Sending, sendingsOn, stoodSince, storyOf, type Term } from './story.ts'

/**
 * P6: a new connection of a session begins with the credentials. Then come the watches, a sync if a write is unanswered,
 * repeated requests, and requests that were not sent before. Every persistent watch gets a Gap.
 */
export const afterReconnection: Check = (played) =>
  storyOf(played).terms.flatMap((term) =>
    term.lines.flatMap((line, index) => {
      if (stoodSince(line) === undefined) return []
      const earlier = term.lines.slice(0, index)
      return [...ranks(line, earlier, term), ...watchesSetAgain(line, term), ...gaps(line, earlier, term)]
    }),
  )

const stages = ['credentials', 'watches', 'the sync', 'what is repeated', 'what is new'] as const

function ranks(line: Line, earlier: readonly Line[], { calls }: Term): Violation[] {
  const callOf = new Map(calls.flatMap((call) => call.sendings.map((sending) => [sending.sent.order, call])))
  const known = new Set(earlier.flatMap(sendingsOn).filter(isAuth).map(identityOf))
  const missing = new Set(known)
  const wrong = ({ sent }: Sending, what: string): Violation[] => [
    { invariant: 'P6', at: sent.at, what: `client ${line.client} at ${line.server}: ${what}` },
  ]
  let last = 0
  for (const sending of sendingsOn(line)) {
    const rank = rankOf(sending)
    if (rank === undefined) continue
    if (rank < last) return wrong(sending, `${stages[last]} went before ${stages[rank]}`)
    if (rank === 0) missing.delete(identityOf(sending))
    else if (missing.size > 0) return wrong(sending, `${stages[rank]} went before credentials`)
    last = rank
    // After the first new call watches and credentials come in the order of their calls.
    if (rank === stages.length - 1) break
  }
  return []

  function rankOf(sending: Sending): number | undefined {
    const { message } = sending.sent
    if (isAuth(sending)) return known.has(identityOf(sending)) ? 0 : undefined
    if (setsWatches(sending)) return 1
    if (message.op === 'sync' && message.request.path === '/') return 2
    const call = callOf.get(sending.sent.order)
    if (call === undefined) return undefined
    return call.sendings[0]!.line === line ? 4 : 3
  }
}

const setsWatches = ({ sent }: Sending): boolean =>
  sent.message.op === 'setWatches' || sent.message.op === 'setWatches2'
const isAuth = ({ sent }: Sending): boolean => sent.message.op === 'auth'
const identityOf = ({ sent }: Sending): string => String((sent.message.request as { auth: Uint8Array }).auth)

/** Watches that were set, and have had no event, are set again before any request. */
function watchesSetAgain(line: Line, { calls, term }: Term): Violation[] {
  const since = stoodSince(line)!.order
  const sent = sendingsOn(line)
  const firstCall = sent.find(({ sent }) =>
    calls.some(({ sendings }) => sendings.some((each) => each.sent.order === sent.order)),
  )
  if (firstCall === undefined) return []
  const before = sent.filter(({ sent }) => sent.order < firstCall.sent.order)
  const again = new Set(before.flatMap(({ sent }) => pathsSet(sent.message.request)))
  return calls
    .filter((call) => standsAt(call, since) && call.called.term === term)
    .flatMap(({ plan }): Violation[] => {
      if (again.has(readBy(plan))) return []
      return [{ invariant: 'P6', at: line.dialed.at, what: `the watch of call ${plan.id} was not set again` }]
    })
}

/** Whether a watcher waits for it at that time, which was set on an earlier connection. */
function standsAt({ plan, settled, told, left }: CallStory, order: number): boolean {
  if (!watchesOnce(plan.op) && plan.op !== 'watch') return false
  if (settled === undefined || settled.outcome.how !== 'resolved' || settled.order > order) return false
  if (left !== undefined && left.order < order) return false
  return plan.op === 'watch' || !told.some((each) => each.order < order)
}

function pathsSet(request: unknown): readonly string[] {
  if (typeof request !== 'object' || request === null) return []
  return Object.values(request).flatMap((list: unknown) => (Array.isArray(list) ? (list as string[]) : []))
}

/**
 * When the last of the watches is set again, each persistent one has a Gap. If a server refuses to set any, the client leaves
 * that server.
 */
function gaps(line: Line, earlier: readonly Line[], { calls, term }: Term): Violation[] {
  if (!earlier.some((each) => stoodSince(each) !== undefined)) return []
  const all = sendingsOn(line).filter(setsWatches)
  const set = all.filter(({ sent }) => sent.step === all[0]!.sent.step)
  const last = set.findLast(({ sent }) => sent.message.op === 'setWatches2')?.reply
  if (last === undefined) return []
  const isRefused = ({ reply }: Sending) => reply !== undefined && reply.order <= last.order && reply.message.err !== 0
  if (set.some(isRefused)) return []
  return calls
    .filter((call) => call.plan.op === 'watch' && call.called.term === term && standsAt(call, stoodSince(line)!.order))
    .filter(({ left }) => left === undefined || (left.order > last.order && left.step !== last.step))
    .filter(({ told }) => !told.some(({ what, step }) => what === 'Gap reconnected' && step === last.step))
    .map(({ plan }) => ({
      invariant: 'P6',
      at: last.at,
      what: `the watch of call ${plan.id} does not tell of its gap`,
    }))
}

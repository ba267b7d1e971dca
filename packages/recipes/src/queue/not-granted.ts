import { hex, inJson } from '@zk/client/internal'
import { type Blocker, WaitTimeoutError } from '../errors/wait-timeout-error.ts'
import type { Slowness } from '../lease/slow-answers.ts'

/** The state of a wait when its timeout ended. */
export interface EndedWait {
  /** When the timeout ended, in ms since the epoch. */
  readonly at: number
  /** The paths of the contenders that were ahead in the last list, oldest first; undefined if no list showed any. */
  readonly ahead?: readonly string[] | undefined
  /** The contender for which the caller waited; undefined if it was not known. */
  readonly blocker?: Blocker | undefined
  /** It was first in line, but its lease was not proven yet, or always too late. */
  readonly proof?: Slowness | 'unfinished' | undefined
  /** Why answers may be missing, if that is known. */
  readonly trouble?: string | undefined
}

/** The error of a caller that was not granted in time. Its place in the queue has been given up. */
export function notGranted(path: string, timeout: number, ended: EndedWait): WaitTimeoutError {
  const wait = { ...ended, ahead: aheadOf(ended) }
  const { ahead = [], blocker, proof } = wait
  const code = proof === undefined && ahead.length > 0 ? 'LockHeld' : 'SlowAnswers'
  return new WaitTimeoutError(code, path, `${path} was not granted within ${timeout} ms: ${placeOf(wait)}`, {
    timeout,
    position: wait.ahead?.length,
    ahead,
    blocker: blocker && inJson({ ...blocker }),
  })
}

/** A newer list of another call may already lack the blocker, whose end this call has not learned of. */
function aheadOf({ ahead, blocker }: EndedWait): readonly string[] | undefined {
  return blocker === undefined || (ahead !== undefined && ahead.length > 0) ? ahead : [blocker.path]
}

function placeOf({ ahead, blocker, at, proof, trouble = 'is the ensemble reachable?' }: EndedWait): string {
  if (proof === 'unfinished') return 'it was first in line, but its lease was not proven in this time: answers are slow'
  if (proof !== undefined) return `it was first in line, but ${explainSlowness(proof)}`
  if (ahead === undefined) return `no contender was seen ahead; ${trouble}`
  if (ahead.length === 0) return `no contender is ahead any more, but no answer confirmed it; ${trouble}`
  if (blocker === undefined) return `${ahead.length} ahead, the oldest is ${ahead[0]}`
  const { path, label, sessionId, since, isOwn } = blocker
  const owner = sessionId === 0n ? 'a node without a session, which no client releases' : `session ${hex(sessionId)}`
  const whose = isOwn ? 'this same client' : owner
  const named = label === '' ? whose : `${whose} (${JSON.stringify(label)})`
  return `${ahead.length} ahead; waited for ${named}, queued since ${timeOf(since, at)} as ${path}`
}

function explainSlowness({ answers, within, T }: Slowness): string {
  const isPossible = within > 0
  const bound = isPossible ? `a lease needs them within ${seconds(within)} s` : 'no lease is possible'
  return (
    `answers take ${seconds(answers)} s each, and with a session timeout of ${seconds(T)} s ${bound}: ` +
    'ask for a longer session timeout, or find out why servers or network are slow'
  )
}

/** A duration in s, with enough digits to compare it with another one. */
const seconds = (ms: number) => String(Number((ms / 1_000).toPrecision(3)))

/** The text of a time by the leader's clock, with how long ago this is by our clock. The two clocks may differ. */
function timeOf(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1_000))
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  return `${new Date(time).toISOString()} (${seconds} s ago)`
}

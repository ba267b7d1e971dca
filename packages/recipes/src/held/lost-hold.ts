import { LostError } from '../errors/lost-error.ts'
import type { LossReason } from '../lease/loss-reason.ts'

/** The error of a hold that has ended. */
export function lostHold(
  reason: LossReason,
  path: string,
  options: { readonly cause?: unknown; readonly result?: unknown } = {},
): LostError {
  return new LostError(reason, path, `${path} is no longer held: ${explain[reason]}`, options)
}

const explain: Record<LossReason, string> = {
  Released: 'it was released',
  Downgraded: 'it was downgraded to a read lock',
  LeaseLost:
    'its lease ended before the ensemble confirmed it again: the servers, the network or this process was too slow',
  Disconnected: 'the connection to the ensemble was lost',
  SessionExpired: 'the session expired',
  Closed: 'the client was closed or detached, or its credentials were refused',
  NodeGone: 'its node is gone: another client deleted it, or the session has expired',
  Refused: 'the ensemble refuses to confirm it: this client may no longer read its node',
}

import { hex, inJson } from '@zk/client/internal'
import { LostError } from '../errors/lost-error.ts'
import { type NameOwner, WaitTimeoutError } from '../errors/wait-timeout-error.ts'

/** Another member of the group has the name, and kept it for as long as `join` could wait. */
export function nameTaken(path: string, timeout: number, owner: NameOwner): WaitTimeoutError {
  const message = `${path} was not free within ${timeout} ms: ${ownerText(owner)}`
  return new WaitTimeoutError('NameTaken', path, message, { timeout, owner: inJson({ ...owner }) })
}

function ownerText({ sessionId, since, isOwn }: NameOwner): string {
  if (isOwn) return 'this same client has joined under this name'
  if (since === 0) return 'this client may not read whose node it is'
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  const time = new Date(since).toISOString()
  return sessionId === 0n
    ? `the node belongs to no session, and was created at ${time}`
    : `session ${hex(sessionId)} has had it since ${time}; if its process is gone, the name is free when that session expires`
}

/** Why a membership has ended. */
export type MembershipLossReason = 'Released' | 'Closed' | 'NameTaken' | 'Refused'

/** The membership has ended, and its node is not created again. */
export function lostMembership(reason: MembershipLossReason, path: string, cause: unknown): LostError {
  return new LostError(reason, path, `${path} is no longer a member: ${explain[reason]}`, { cause })
}

const explain: Record<MembershipLossReason, string> = {
  Released: 'it has left',
  Closed: 'the client was closed or detached, or has no session any more',
  NameTaken: 'another member has its name',
  Refused: 'the servers refuse its node',
}

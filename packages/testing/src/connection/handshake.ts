import type { ConnectedMessage, ConnectMessage } from '@zk/wire'
import type { EstablishedSession } from '../server/request.ts'
import type { FaultRule } from './fault-rule.ts'

/** A handshake that waits for its answer. */
export interface Handshake {
  /** A client before 3.4 sends no readOnly, and expects none in the answer. */
  readonly isOldClient: boolean
  readonly isNewSession: boolean
  /** The time at which it arrived, in ms since the ensemble began. */
  readonly takenAt: number
  /** The fault that strikes it. */
  readonly rule: FaultRule | undefined
}

export const EXPIRED: EstablishedSession = { sessionId: 0n, timeOut: 0, passwd: new Uint8Array(16), readOnly: false }

export function handshake(request: ConnectMessage['request'], takenAt: number, rule: FaultRule | undefined): Handshake {
  return { isOldClient: request.readOnly === undefined, isNewSession: request.sessionId === 0n, takenAt, rule }
}

export function connected(session: EstablishedSession, { isOldClient }: Handshake): ConnectedMessage {
  const { sessionId, timeOut, passwd } = session
  const readOnly = isOldClient ? undefined : session.readOnly
  return { type: 'connected', response: { protocolVersion: 0, timeOut, sessionId, passwd, readOnly } }
}

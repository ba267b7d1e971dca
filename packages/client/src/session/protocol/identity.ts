// The id, the password and the timeout by which servers know the session, and the handshake that sends or changes them.
import { connectFrame } from '../requests/internal-requests.ts'
import { ProtocolError } from '@zk/wire'
import { assertNoEcho, readConnectResponse } from './incoming.ts'
import type { SessionConfig } from './config.ts'
import { DetachedSession } from './detached-session.ts'

const NO_PASSWD = new Uint8Array(16)

/**
 * The id of a session that cannot exist: 5 of its bytes are the time at which its server started
 * (SessionTrackerImpl.initializeNextSessionId), in ms since the start of the machine, and no server starts at 0.
 */
const TRIAL_SESSION = 0x8000_0000_0000_0000n

export class Identity {
  /** The id of the session; 0 until a server has given one. */
  id = 0n
  /** T in ms, as granted by a server, or before that as requested. */
  timeout: number
  /** The shortest timeout that the session has ever had, in ms; 0 if it was resumed with credentials without it. */
  shortestTimeout: number
  #passwd: Uint8Array = NO_PASSWD
  /** The ConnectRequest of the current connection. */
  #request: Uint8Array = new Uint8Array(0)
  /**
   * Whether the ensemble knows the session. A read-only server gives local sessions, which no other server knows. After a local
   * session the client requests a new session from the next server (ClientCnxn.seenRwServerBefore).
   */
  #isKnownToEnsemble = false
  readonly #config: SessionConfig

  constructor(config: SessionConfig) {
    this.#config = config
    this.timeout = config.sessionTimeout
    this.shortestTimeout = config.sessionTimeout
    if (config.resume === undefined) return
    this.id = config.resume.id
    // A copy: the caller may overwrite the original.
    this.#passwd = new Uint8Array(config.resume.passwd)
    this.shortestTimeout = config.resume.shortestTimeout ?? 0
    this.#isKnownToEnsemble = true
  }

  /** The session, for another client to resume; undefined if the ensemble does not know the session yet, or no longer. */
  detached(lastZxid: bigint, lastXid: number): DetachedSession | undefined {
    if (!this.#isKnownToEnsemble) return undefined
    const { id, shortestTimeout } = this
    return new DetachedSession({ id, passwd: this.#passwd, lastZxid, shortestTimeout, lastXid })
  }

  connectFrame(lastZxidSeen: bigint): Uint8Array {
    const { sessionTimeout, readOnly } = this.#config
    const isKnown = this.#isKnownToEnsemble
    const sessionId = isKnown ? this.id : 0n
    const passwd = isKnown ? this.#passwd : NO_PASSWD
    // Never request less than the shortest timeout so far. A server may execute this request late, when the client has given
    // up. Another client that has resumed the session would then rely on a longer timeout than the session has.
    const timeOut = isKnown ? Math.max(sessionTimeout, this.shortestTimeout) : sessionTimeout
    this.#request = connectFrame({ lastZxidSeen, timeOut, sessionId, passwd, readOnly })
    return this.#request
  }

  /**
   * A ConnectRequest that shows whether a server serves, and leaves all sessions as they are: it names a session that cannot
   * exist. `random` is from 0 to below 1.
   */
  trialFrame(lastZxidSeen: bigint, random: number): Uint8Array {
    const { sessionTimeout: timeOut } = this.#config
    // Servers close an earlier connection that names the same session. So the last two bytes are random.
    const sessionId = BigInt.asIntN(64, TRIAL_SESSION | BigInt(Math.floor(random * 0x10000)))
    return connectFrame({ lastZxidSeen, timeOut, readOnly: false, sessionId, passwd: NO_PASSWD })
  }

  /** The session is over: no server will answer for it again. */
  expired(): void {
    this.#isKnownToEnsemble = false
  }

  /** Takes the answer to the ConnectRequest. Throws a `ProtocolError` if it is invalid, or if the server cannot be used. */
  answered(frame: Uint8Array): 'expired' | 'otherSession' | 'readWrite' | 'readOnly' {
    assertNoEcho(frame, this.#request)
    const { timeOut, sessionId, passwd, readOnly } = readConnectResponse(frame, this.#config.readOnly)
    if (timeOut <= 0) {
      if (this.#isKnownToEnsemble) return 'expired'
      // Servers answer in this way only if an old session was requested (ZooKeeperServer.finishSessionInit).
      throw new ProtocolError(`the request for a new session was answered with a session timeout of ${timeOut} ms`)
    }
    if (this.#isKnownToEnsemble && sessionId !== this.id) return 'otherSession'
    this.id = sessionId
    this.#passwd = passwd ?? new Uint8Array(0)
    this.timeout = timeOut
    // A new session begins with the timeout of this answer.
    this.shortestTimeout = this.#isKnownToEnsemble ? Math.min(this.shortestTimeout, timeOut) : timeOut
    if (readOnly) return 'readOnly'
    this.#isKnownToEnsemble = true
    return 'readWrite'
  }
}

import type { Bytes } from '@zk/wire'
import { hex } from '../../hex.ts'

/**
 * A session without a client. Another client may go on with it, by `connect(…, { session })`, until its timeout has passed.
 */
export class DetachedSession implements SessionCredentials {
  /** Its id, signed as on the wire. `formatSessionId` prints it as servers do. */
  readonly id: bigint
  /** The latest transaction that the client may have seen. */
  readonly lastZxid: bigint
  /** The smallest timeout that the session ever had, in ms; 0 where it is not known. */
  readonly shortestTimeout: number
  /** The xid of the last request that was sent. */
  readonly lastXid: number
  // It is private: printing the object, or an error with it, shows no secret.
  readonly #passwd: Bytes

  /** @internal */
  constructor({ id, passwd, lastZxid, shortestTimeout, lastXid }: DetachedSessionState) {
    this.id = id
    this.lastZxid = lastZxid
    this.shortestTimeout = shortestTimeout
    this.lastXid = lastXid
    this.#passwd = new Uint8Array(passwd)
  }

  /** The password, a secret: it allows everything that the session may do, and to end it. */
  get passwd(): Bytes {
    return this.#passwd
  }

  /** For logs, without the password. For another process use `formatDetachedSession`. */
  toJSON(): object {
    const { id, lastZxid, shortestTimeout, lastXid } = this
    return { id: hex(id), lastZxid: hex(lastZxid), shortestTimeout, lastXid }
  }
}

const FORM = 'zk-session:1'

/** The session as text, for `parseDetachedSession` of another process. **It contains the password**: keep it secret. */
export function formatDetachedSession({ id, lastZxid, shortestTimeout, lastXid, passwd }: DetachedSession): string {
  const secret = Array.from(passwd, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [FORM, hex(id), hex(lastZxid), shortestTimeout, lastXid, secret].join(':')
}

/**
 * Reads the text of `formatDetachedSession`, for `connect(…, { session })`. Throws a `TypeError`, which does not show the
 * text, for any other text.
 */
export function parseDetachedSession(text: string): DetachedSession {
  const form = /^zk-session:1:(0x[0-9a-f]{1,16}):(0x[0-9a-f]{1,16}):(\d{1,10}):(\d{1,10}):((?:[0-9a-f]{2})*)$/
  const [, id, lastZxid, shortestTimeout, lastXid, secret] = form.exec(typeof text === 'string' ? text : '') ?? []
  if (id === undefined || lastZxid === undefined || secret === undefined) {
    throw new TypeError(`the text of a session must be what formatDetachedSession gave: it begins with ${FORM}:`)
  }
  return new DetachedSession({
    id: BigInt.asIntN(64, BigInt(id)),
    lastZxid: BigInt(lastZxid),
    shortestTimeout: Number(shortestTimeout),
    lastXid: Number(lastXid),
    passwd: Uint8Array.from(secret.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16)),
  })
}

/** All credentials of a session, as its former client knows them. */
export interface DetachedSessionState {
  readonly id: bigint
  readonly passwd: Uint8Array
  readonly lastZxid: bigint
  readonly shortestTimeout: number
  readonly lastXid: number
}

/** The credentials to go on with a session. */
export interface SessionCredentials {
  /** Its id, signed as on the wire; not 0. */
  readonly id: bigint
  /** The password, a secret: it allows everything that the session may do, and to end it. */
  readonly passwd: Uint8Array
  /**
   * The latest transaction that the former client may have seen. A server that has not applied it refuses the session, and
   * the client tries the next server. So it reads nothing older. @default 0n, any server will do
   */
  readonly lastZxid?: bigint | undefined
  /**
   * The smallest timeout that the session ever had, in ms, that of its creation included. A new leader goes back to that one,
   * so no lease may be longer. Where it is not known, @zk/recipes refuses to acquire with a lease. The client never requests
   * less than this, whatever `sessionTimeout` is. @default 0, not known
   */
  readonly shortestTimeout?: number | undefined
  /**
   * The xid of the last request that was sent in the session. The next request has the next number. A server finds the
   * request of a transaction by session and xid alone (CommitProcessor). Without this, a write that was under way when the
   * session was left could answer a request of the next client, and that answer would be wrong. @default 0, not known: a
   * random xid
   */
  readonly lastXid?: number | undefined
}

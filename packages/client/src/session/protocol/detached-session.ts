import type { Bytes } from '@zk/wire'
import { hex } from '../../base/hex.ts'

/**
 * A session that its client has left. Another client can resume it with `connect(…, { session })`, until the session timeout
 * has passed.
 */
export class DetachedSession implements SessionCredentials {
  /** Its id, signed as on the wire. `formatSessionId` prints it as servers do. */
  readonly id: bigint
  /** The latest transaction that the client may have seen. */
  readonly lastZxid: bigint
  /** The smallest timeout that the session has ever had, in ms; 0 if it is not known. */
  readonly shortestTimeout: number
  /** The xid of the last request that was sent. */
  readonly lastXid: number
  // The field is private, so that no secret is shown when the object, or an error that has it, is printed.
  readonly #passwd: Bytes

  /** @internal */
  constructor({ id, passwd, lastZxid, shortestTimeout, lastXid }: DetachedSessionState) {
    this.id = id
    this.lastZxid = lastZxid
    this.shortestTimeout = shortestTimeout
    this.lastXid = lastXid
    this.#passwd = new Uint8Array(passwd)
  }

  /** The password, a secret. A client that has it can make all calls of the session, and can end the session. */
  get passwd(): Bytes {
    return this.#passwd
  }

  /** The fields for logs, without the password. To resume it in another process use `formatDetachedSession`. */
  toJSON(): object {
    const { id, lastZxid, shortestTimeout, lastXid } = this
    return { id: hex(id), lastZxid: hex(lastZxid), shortestTimeout, lastXid }
  }
}

const FORM = 'zk-session:1'

/** Turns the session into text, for `parseDetachedSession` in another process. **It contains the password**: keep it secret. */
export function formatDetachedSession({ id, lastZxid, shortestTimeout, lastXid, passwd }: DetachedSession): string {
  const secret = Array.from(passwd, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [FORM, hex(id), hex(lastZxid), shortestTimeout, lastXid, secret].join(':')
}

/**
 * Turns the text of `formatDetachedSession` into a session for `connect(…, { session })`. Throws a `TypeError` for any other
 * text. The error does not show the text.
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

/** All credentials of a session that its client has left. */
export interface DetachedSessionState {
  readonly id: bigint
  readonly passwd: Uint8Array
  readonly lastZxid: bigint
  readonly shortestTimeout: number
  readonly lastXid: number
}

/** The credentials with which a client resumes a session. */
export interface SessionCredentials {
  /** The id of the session, signed as on the wire; not 0. */
  readonly id: bigint
  /** The password, a secret. A client that has it can make all calls of the session, and can end the session. */
  readonly passwd: Uint8Array
  /**
   * The latest transaction that the former client may have seen. A server that has not applied it refuses the session, and
   * the client tries the next server. So the client reads nothing older. @default 0n: any server is accepted
   */
  readonly lastZxid?: bigint | undefined
  /**
   * The smallest timeout that the session has ever had, in ms, including the timeout of its creation. A new leader goes back to
   * the timeout of the creation, so no lease may be longer. If it is not known, @zk/recipes refuses to acquire with a lease.
   * The client never requests less than this, even if `sessionTimeout` is less. @default 0: not known
   */
  readonly shortestTimeout?: number | undefined
  /**
   * The xid of the last request that was sent in the session. The client numbers its first request with the next xid. A server
   * finds the request of a transaction by session and xid alone (CommitProcessor). If the client used an xid again, the result
   * of the former client's write could come as the reply to its own request. @default 0: not known, the first xid is random
   */
  readonly lastXid?: number | undefined
}

// The credentials of a client, which are sent first on every connection. Servers do not keep the order between answers to
// credentials and answers to other requests, so answers to credentials have a queue of their own.
import { AuthPacket, encodeFrame, OpCode, RequestHeader, Xid } from '@zk/wire'
import type { Credential } from '../../operations/add-auth.ts'
import { Fifo } from './fifo.ts'
import type { Request } from './request.ts'

export class Credentials {
  readonly #credentials: Credential[]
  readonly #unanswered = new Fifo<Credential>()
  readonly #callers = new Map<Credential, Request>()
  /** The credentials that were sent on this connection. */
  readonly #sentHere = new Set<Credential>()
  /** The credentials that callers of this session have added, and that were never sent. */
  readonly #new = new Set<Credential>()

  /** `credentials` is the list of the client, which outlives sessions. `add` extends it. */
  constructor(credentials: Credential[]) {
    this.#credentials = credentials
  }

  /** Adds a credential to send. One that was added before is sent again, but kept once: a program may add it regularly. */
  add(credential: Credential, caller: Request): void {
    const known = this.#credentials.find((each) => isSame(each, credential) && !this.#callers.has(each))
    if (known === undefined) {
      this.#credentials.push(credential)
      this.#new.add(credential)
    } else this.#sentHere.delete(known)
    this.#callers.set(known ?? credential, caller)
  }

  /** The frames of all credentials that were not sent on this connection yet. */
  frames(): Uint8Array[] {
    if (this.#sentHere.size === this.#credentials.length) return []
    const unsent = this.#credentials.filter((credential) => !this.#sentHere.has(credential))
    return unsent.map((credential) => {
      this.#unanswered.push(credential)
      this.#sentHere.add(credential)
      this.#new.delete(credential)
      return toFrame(credential)
    })
  }

  /** The oldest unanswered credential is answered. Returns the request of its caller, if the caller still waits. */
  answered(): Request | undefined {
    const credential = this.#unanswered.shift()
    return credential === undefined ? undefined : this.#takeCaller(credential)
  }

  /** The connection is gone. All credentials will be sent again on the next one. */
  interrupted(): void {
    this.#unanswered.drop()
    this.#sentHere.clear()
  }

  /**
   * Removes and returns the callers that fulfil `condition`. Drops the credentials that they have added, if these were never sent.
   * A credential that was in the list before stays: the client was made with it, or another session has sent it.
   */
  takeCallers(condition: (caller: Request) => boolean): Request[] {
    const taken = [...this.#callers].filter(([, caller]) => condition(caller)).map(([credential]) => credential)
    for (const unsent of taken.filter((credential) => this.#new.delete(credential))) {
      this.#credentials.splice(this.#credentials.indexOf(unsent), 1)
    }
    return taken.flatMap((credential) => this.#takeCaller(credential) ?? [])
  }

  get nextTimeout(): number {
    let next = Infinity
    if (this.#callers.size === 0) return next
    for (const { expiresAt } of this.#callers.values()) next = Math.min(next, expiresAt)
    return next
  }

  #takeCaller(credential: Credential): Request | undefined {
    const caller = this.#callers.get(credential)
    this.#callers.delete(credential)
    caller?.settle()
    return caller
  }
}

function isSame(one: Credential, other: Credential): boolean {
  const { auth } = other
  if (one.scheme !== other.scheme || one.auth.length !== auth.length) return false
  return one.auth.every((byte, index) => byte === auth[index])
}

function toFrame({ scheme, auth }: Credential): Uint8Array {
  return encodeFrame((writer) => {
    RequestHeader.write(writer, { xid: Xid.auth, type: OpCode.auth })
    AuthPacket.write(writer, { type: 0, scheme, auth })
  })
}

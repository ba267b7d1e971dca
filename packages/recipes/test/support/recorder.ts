// What a client has sent and received, and when; and what of it proves that its session lives. All of it is read from the wire.
import type { Runtime, RuntimeConnection } from '@zk/client'
import { type ClientMessage, Conversation, type MessageDecoder, type ServerMessage } from '@zk/wire'

/** One request or ping. `answered` is Infinity until it is. */
interface Asked {
  readonly op: string | undefined
  readonly xid: number
  readonly sent: number
  answered: number
}

interface Recorded {
  readonly handshake: { sent: number; answered: number }
  readonly asked: Asked[]
}

/** Servers answer these by themselves: they do not touch the session. */
const UNTOUCHING = ['auth', 'sasl']
/** What the leader proposes, and a quorum commits. */
const COMMITTED = ['create', 'create2', 'delete', 'setData', 'multi', 'check']

/** A runtime that records what passes by. */
export class Recorder implements Runtime {
  readonly #runtime: Runtime
  readonly #connections: Recorded[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /**
   * The latest moment from which the leader is known to count T, by what was committed: of the last two touches that had been
   * answered for so long when a sync was sent, the earlier, where the sync was answered before the committed request was
   * sent, on the same connection; or the handshake of that connection.
   */
  touchedBy(followerRelayDelay: number): number {
    return Math.max(...this.#connections.map((connection) => touchedOn(connection, followerRelayDelay)))
  }

  // --- Runtime ----------------------------------------------------------------------------------------------------

  now(): number {
    return this.#runtime.now()
  }

  wallNow(): number {
    return this.#runtime.wallNow()
  }

  setTimer(delay: number, callback: () => void): () => void {
    return this.#runtime.setTimer(delay, callback)
  }

  random(): number {
    return this.#runtime.random()
  }

  uuid(): string {
    return this.#runtime.uuid()
  }

  dial(...[target, handler]: Parameters<Runtime['dial']>): RuntimeConnection {
    const recorded: Recorded = { handshake: { sent: Infinity, answered: Infinity }, asked: [] }
    this.#connections.push(recorded)
    const { fromClient, fromServer } = new Conversation()
    const connection = this.#runtime.dial(target, {
      opened: () => handler.opened(),
      received: (bytes) => {
        for (const message of all(fromServer, bytes)) this.#received(recorded, message)
        handler.received(bytes)
      },
      drained: () => handler.drained(),
      lost: (error) => handler.lost(error),
    })
    return {
      write: (bytes) => {
        for (const message of all(fromClient, bytes)) this.#sent(recorded, message)
        return connection.write(bytes)
      },
      close: () => connection.close(),
    }
  }

  #sent({ handshake, asked }: Recorded, message: ClientMessage): void {
    if (message.type === 'connect') handshake.sent = this.now()
    if (message.type !== 'request' || UNTOUCHING.includes(message.op ?? '')) return
    asked.push({ op: message.op, xid: message.xid, sent: this.now(), answered: Infinity })
  }

  #received({ handshake, asked }: Recorded, message: ServerMessage): void {
    if (message.type === 'connected') handshake.answered = this.now()
    if (message.type !== 'reply') return
    const oldest = asked.find(({ xid, answered }) => xid === message.xid && answered === Infinity)
    if (oldest !== undefined) oldest.answered = this.now()
  }
}

function touchedOn({ handshake, asked }: Recorded, followerRelayDelay: number): number {
  const touches = asked
    .filter(({ op, answered }) => COMMITTED.includes(op ?? '') && answered < Infinity)
    .flatMap((committed) => {
      const syncs = asked.filter(({ op, answered }) => op === 'sync' && answered <= committed.sent)
      const relayed = syncs.map((sync) => {
        const before = asked.filter(({ answered }) => answered <= sync.sent - followerRelayDelay)
        return before.at(-2)?.sent ?? -Infinity
      })
      return handshake.answered <= committed.sent ? [handshake.sent, ...relayed] : relayed
    })
  return Math.max(-Infinity, ...touches)
}

function all<Message>(decoder: MessageDecoder<Message>, bytes: Uint8Array): Message[] {
  const messages: Message[] = []
  // A copy: the decoder keeps what it is given.
  decoder.push(bytes.slice())
  for (let message = decoder.next(); message !== undefined; message = decoder.next()) messages.push(message as Message)
  return messages
}

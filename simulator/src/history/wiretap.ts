import { Conversation, type MessageDecoder } from '@zk/wire'
import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '@zk/client'
import type { Line, LookUp, Moment, Sent } from './line.ts'

export interface WiretapOptions {
  readonly client: number
  /** Whether the client proves its identity by SASL. */
  readonly usesSasl: boolean
  readonly lines: Line[]
  readonly lookUps: LookUp[]
  readonly moment: () => Moment
  /** The term of the session that dials now. */
  readonly term: () => number
}

/** The Runtime of a process that also records what is dialed, sent and received. */
export function wiretap(runtime: Runtime, { client, usesSasl, lines, lookUps, moment, term }: WiretapOptions): Runtime {
  const resolve: NonNullable<Runtime['resolve']> = (host, handler) => {
    const lookUp: LookUp = { client, term: term(), server: host, asked: moment(), answered: undefined }
    lookUps.push(lookUp)
    runtime.resolve!(host, {
      found: (addresses) => {
        lookUp.answered = moment()
        handler.found(addresses)
      },
      failed: (error) => {
        lookUp.answered = moment()
        handler.failed(error)
      },
    })
  }
  return {
    now: () => runtime.now(),
    wallNow: () => runtime.wallNow(),
    setTimer: (delay, callback) => runtime.setTimer(delay, callback),
    random: () => runtime.random(),
    uuid: () => runtime.uuid(),
    ...(runtime.resolve !== undefined && { resolve }),
    dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
      const line: Line = {
        client,
        term: term(),
        usesSasl,
        server: target.host,
        dialed: moment(),
        frames: [],
        ended: undefined,
      }
      lines.push(line)
      const { fromClient, fromServer } = new Conversation()
      let segment = 0
      const end = (by: 'client' | 'peer') => {
        line.ended ??= { ...moment(), by }
      }
      const connection = runtime.dial(target, {
        opened: () => handler.opened(),
        received: (bytes) => {
          for (const message of read(fromServer, bytes)) line.frames.push({ ...moment(), way: 'down', message })
          handler.received(bytes)
        },
        drained: () => handler.drained(),
        lost: (error) => {
          end('peer')
          handler.lost(error)
        },
      })
      return {
        write: (bytes) => {
          segment++
          // A copy: the client may change the bytes later.
          for (const message of read(fromClient, bytes.slice())) {
            line.frames.push({ ...moment(), way: 'up', message, segment } as Sent)
          }
          return connection.write(bytes)
        },
        close: () => {
          end('client')
          connection.close()
        },
      }
    },
  }
}

/** The messages that these bytes complete; undefined, once, if the bytes are no messages. */
function* read<Message>(decoder: MessageDecoder<Message>, bytes: Uint8Array): Generator<Message | undefined> {
  decoder.push(bytes)
  for (;;) {
    let message
    try {
      message = decoder.next()
    } catch {
      yield undefined
      return
    }
    if (message === undefined) return
    yield message as Message
  }
}

// The questions that a client asks a server on a separate connection.
import { encodeFrame, FrameDecoder, OpCode, ProtocolError, RequestHeader } from '@zk/wire'
import { assertNoEcho, readConnectResponse } from '../protocol/incoming.ts'

export interface Question {
  /** What to write when the connection is open. */
  readonly bytes: Uint8Array
  /** Takes the bytes as they come. Undefined: the answer is not complete. */
  readonly received: (bytes: Uint8Array) => Verdict | undefined
}

export interface Verdict {
  /** Why the client cannot use the server; undefined if it can. */
  readonly failure: Error | undefined
  /** What to write before the connection is closed. */
  readonly last?: Uint8Array
}

const ISRO = new TextEncoder().encode('isro')
const ANSWER_SIZE = 2

/**
 * Asks whether the server takes writes, by a four-letter word. The answer is `rw` if it does, `ro` if it is read-only, and
 * `null` if it serves nothing.
 */
export function takesWrites(): Question {
  let text = ''
  const received = (bytes: Uint8Array) => {
    text += String.fromCharCode(...bytes.subarray(0, ANSWER_SIZE))
    if (text.length < ANSWER_SIZE) return undefined
    return { failure: text.startsWith('rw') ? undefined : new Error('the server takes no writes') }
  }
  return { bytes: ISRO, received }
}

/** The largest answer to a ConnectRequest, in bytes: no password is that long. */
const LONGEST_ANSWER = 1_024

/**
 * Asks whether the server would accept a handshake. `connectRequest` names a session that cannot exist: a server that serves,
 * and is not behind the client, answers that it has expired, and changes nothing. Any other server closes the connection.
 */
export function serves(connectRequest: Uint8Array): Question {
  const frames = new FrameDecoder({ limit: LONGEST_ANSWER })
  const received = (bytes: Uint8Array): Verdict | undefined => {
    try {
      frames.push(bytes)
      const answer = frames.next()
      frames.keep()
      if (answer === undefined) return undefined
      assertNoEcho(answer, connectRequest)
      const { timeOut } = readConnectResponse(answer)
      // Other implementations give a new session in place of an unknown one. Nobody needs it.
      return timeOut > 0 ? { failure: undefined, last: closeSession } : { failure: undefined }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return { failure: error }
    }
  }
  return { bytes: connectRequest, received }
}

const closeSession = encodeFrame((writer) => RequestHeader.write(writer, { xid: 1, type: OpCode.closeSession }))

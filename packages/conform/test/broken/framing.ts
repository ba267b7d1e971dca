import type { BrokenServer } from './broken-server.ts'

const send = 'const bytes = encodeMessage(message)\n this.log.sent(message, bytes.byteLength, rule)'

export const framing: readonly BrokenServer[] = [
  {
    clause: 'framing/3',
    does: 'loses pieces of a frame that are shorter than a length',
    replace: 'this.#frames.push(bytes)',
    with: 'if (bytes.length >= 4) this.#frames.push(bytes)',
  },
  {
    clause: 'framing/6',
    does: 'counts the length itself in jute.maxbuffer',
    replace: 'limit: host.limits.juteMaxBuffer',
    with: 'limit: host.limits.juteMaxBuffer - 4',
  },
  {
    clause: 'framing/7',
    does: 'has a limit that is 4 bytes too high',
    replace: 'limit: host.limits.juteMaxBuffer',
    with: 'limit: host.limits.juteMaxBuffer + 4',
  },
  {
    clause: 'framing/9',
    does: 'closes the connection instead of sending a reply beyond jute.maxbuffer',
    replace: send,
    with: `${send}\n if (bytes.byteLength > 1_048_579) return this.end('too long')`,
  },
  {
    clause: 'framing/12',
    does: 'does not read a request with more bytes after its last field',
    replace: 'return { message: decodeClientFrame(frame, false) as RequestMessage, isMalformed: false }',
    with: `const message = decodeClientFrame(frame, false) as RequestMessage
      return { message, isMalformed: message.op !== undefined && message.rest !== undefined }`,
  },
  {
    clause: 'framing/13',
    does: 'sends a record after the header of an error',
    replace: send,
    with: `const plain = encodeMessage(message)
      const isError = message.type === 'reply' && message.err === ErrorCode.NoNode
      const bytes = isError ? new Uint8Array(plain.length + 4) : plain
      if (isError) bytes.set(plain)
      if (isError) bytes[3] = 20
      this.log.sent(message, bytes.byteLength, rule)`,
  },
  {
    clause: 'framing/14',
    does: 'sends a record after the header of the reply to a ping',
    replace: send,
    with: `const plain = encodeMessage(message)
      const isPing = message.type === 'reply' && message.op === 'ping'
      const bytes = isPing ? new Uint8Array(plain.length + 4) : plain
      if (isPing) bytes.set(plain)
      if (isPing) bytes[3] = 20
      this.log.sent(message, bytes.byteLength, rule)`,
  },
]

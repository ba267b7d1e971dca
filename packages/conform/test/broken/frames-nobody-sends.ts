import type { BrokenServer } from './broken-server.ts'

const unimplemented = 'client.connection.reply(request, -1n, ErrorCode.Unimplemented)'
const drop = 'this.#drop(client, `opcode ${request.message.opCode} is not known`)'

export const framesNobodySends: readonly BrokenServer[] = [
  {
    clause: 'frames-nobody-sends/1',
    does: 'waits when the first four bytes are text, but no word',
    replace: 'if (!isWord(word)) return this.end(`text in place of a frame: ${JSON.stringify(word)}`)',
    with: 'if (!isWord(word)) return',
  },
  {
    clause: 'frames-nobody-sends/6',
    does: 'answers a request in place of a handshake',
    replace: 'const message = decodeClientFrame(frame, true) as ConnectMessage',
    with: `if (frame.length < 44) {
      this.#reply({ op: 'ping', opCode: OpCode.ping, xid: Xid.ping } as RequestMessage, 0n, 0, undefined)
      return this.end('no handshake')
    }
    const message = decodeClientFrame(frame, true) as ConnectMessage`,
    also: ['frames-nobody-sends/7'],
  },
  {
    clause: 'frames-nobody-sends/9',
    does: 'answers an unknown opcode with BadArguments',
    replace: unimplemented,
    with: unimplemented.replace('Unimplemented', 'BadArguments'),
  },
  {
    clause: 'frames-nobody-sends/10',
    does: 'keeps the connection after an unknown opcode',
    replace: drop,
    with: '',
  },
  {
    clause: 'frames-nobody-sends/11',
    does: 'closes the session after an unknown opcode',
    replace: drop,
    with: `this.process(new Pending(closeSession(request.sessionId, this.host.name), this.owner))\n${drop}`,
  },
  {
    clause: 'frames-nobody-sends/12',
    does: 'answers an unknown opcode with the zxid 0',
    replace: unimplemented,
    with: unimplemented.replace('-1n', '0n'),
  },
  {
    clause: 'frames-nobody-sends/13',
    does: 'answers a read that ends too early with BadArguments',
    replace: 'return request.isMalformed ? refused(ErrorCode.MarshallingError)',
    with: 'return request.isMalformed ? refused(ErrorCode.BadArguments)',
  },
].map((server) => ({ ...server, release: '3.8.7' }))

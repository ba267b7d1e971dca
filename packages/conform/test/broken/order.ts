import type { BrokenServer } from './broken-server.ts'

const reply = 'connection.reply(request, tree.lastProcessedZxid, answer.err, answer.response)'

export const order: readonly BrokenServer[] = [
  {
    clause: 'order/1',
    does: 'answers a create after later requests',
    replace: '#send(message: ServerMessage, rule: FaultRule | undefined): void {',
    with: `#send(message: ServerMessage, rule: FaultRule | undefined, isLate = false): void {
      if (!isLate && message.type === 'reply' && message.op === 'create') {
        this.port.clock.after(5, () => this.#send(message, rule, true))
        return
      }`,
  },
  {
    clause: 'order/2',
    does: 'answers the xid -3 with 3',
    replace: 'const due = opCode === OpCode.ping ? Xid.ping : xid',
    with: 'const due = opCode === OpCode.ping ? Xid.ping : xid === -3 ? 3 : xid',
  },
  {
    clause: 'order/3',
    does: 'answers a ping under the xid 0',
    replace: 'const due = opCode === OpCode.ping ? Xid.ping : xid',
    with: 'const due = opCode === OpCode.ping ? 0 : xid',
  },
  {
    clause: 'order/4',
    does: 'answers a ping under its own xid',
    replace: 'const due = opCode === OpCode.ping ? Xid.ping : xid',
    with: 'const due = xid',
  },
  {
    clause: 'order/11',
    does: 'answers a write with the zxid before that of its transaction',
    replace: reply,
    with: `connection.reply(request, tree.lastProcessedZxid - (result === undefined ? 0n : 1n), answer.err, answer.response)`,
  },
  {
    clause: 'order/13',
    does: 'answers reads with the zxid 0',
    replace: reply,
    with: `connection.reply(request, result === undefined ? 0n : tree.lastProcessedZxid, answer.err, answer.response)`,
  },
  {
    clause: 'order/14',
    does: 'answers pings with the zxid 0',
    replace: reply,
    with: `connection.reply(request, request.message.op === 'ping' ? 0n : tree.lastProcessedZxid, answer.err, answer.response)`,
  },
  {
    clause: 'order/18',
    does: 'sends events with the error code -1',
    replace: "this.#send({ type: 'event', zxid, err: 0, event }, rule)",
    with: "this.#send({ type: 'event', zxid, err: -1, event }, rule)",
  },
]

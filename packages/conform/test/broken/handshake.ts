import type { BrokenServer } from './broken-server.ts'

const behind =
  "if (request.lastZxidSeen > this.#zxid) return this.end('the client has seen a zxid that the member has not')"
const clamp = 'Math.min(Math.max(timeOut, minSessionTimeout), maxSessionTimeout)'
const password = `if (isPasswd(sessionId, passwd)) this.revalidate(client)
    else this.finishSessionInit(client, false)`

export const handshake: readonly BrokenServer[] = [
  {
    clause: 'handshake/1',
    does: 'answers with the protocol version 1',
    replace: 'response: { protocolVersion: 0, timeOut',
    with: 'response: { protocolVersion: 1, timeOut',
  },
  {
    clause: 'handshake/2',
    does: 'closes the connection of a client with another protocol version',
    replace: behind,
    with: `if (request.protocolVersion !== 0) return this.end('another version')\n${behind}`,
  },
  {
    clause: 'handshake/4',
    does: 'wants a password of 16 bytes for a new session',
    replace: behind,
    with: `if (request.sessionId === 0n && request.passwd?.length !== 16) return this.end('no password')\n${behind}`,
  },
  {
    clause: 'handshake/7',
    does: 'leaves readOnly out of its answer',
    replace: 'const readOnly = isOldClient ? undefined : session.readOnly',
    with: 'const readOnly = undefined',
  },
  {
    clause: 'handshake/8',
    does: 'answers an old client with readOnly, too',
    replace: 'const readOnly = isOldClient ? undefined : session.readOnly',
    with: 'const { readOnly } = session',
  },
  {
    clause: 'handshake/10',
    does: 'rounds timeouts to seconds',
    replace: clamp,
    with: `Math.round(${clamp} / 1000) * 1000`,
  },
  {
    clause: 'handshake/11',
    does: 'grants timeouts that are too short',
    replace: clamp,
    with: 'Math.min(timeOut, maxSessionTimeout)',
  },
  {
    clause: 'handshake/12',
    does: 'grants timeouts that are too long',
    replace: clamp,
    with: 'Math.max(timeOut, minSessionTimeout)',
  },
  {
    clause: 'handshake/14',
    does: 'closes the connection instead of saying that a session is over',
    replace:
      'connection.established({ sessionId: 0n, timeOut: 0, passwd: new Uint8Array(16), readOnly }, createSession)',
    with: '',
  },
  {
    clause: 'handshake/15',
    does: 'refuses a session with a password that is not 0',
    replace: 'timeOut: 0, passwd: new Uint8Array(16), readOnly: false }',
    with: 'timeOut: 0, passwd: new Uint8Array(16).fill(1), readOnly: false }',
  },
  {
    clause: 'handshake/16',
    does: 'keeps the connection after it has refused a session',
    replace: 'end(reason: string): void {',
    with: "end(reason: string): void {\n if (reason === 'the session has expired') return",
  },
  {
    clause: 'handshake/17',
    does: 'does not check passwords',
    replace: password,
    with: 'this.revalidate(client)',
  },
  {
    clause: 'handshake/18',
    does: 'compares as many bytes of a password as there are',
    replace: password,
    with: `const right = generatePasswd(sessionId)
    if ((passwd ?? []).every((byte, index) => byte === (right[index] ?? byte))) this.revalidate(client)
    else this.finishSessionInit(client, false)`,
  },
  {
    clause: 'handshake/19',
    does: 'closes a session for which it gets a wrong password',
    replace: password,
    with: `if (isPasswd(sessionId, passwd)) this.revalidate(client)
    else {
      this.process(new Pending(closeSession(sessionId, this.host.name), this.owner))
      this.finishSessionInit(client, false)
    }`,
  },
  {
    clause: 'handshake/21',
    does: 'does not look at the last zxid that a client has seen',
    replace: 'const request = isReplaced ? { ...message.request, sessionId: 0n } : message.request',
    with: 'const request = { ...message.request, lastZxidSeen: 0n }',
  },
  {
    clause: 'handshake/22',
    does: 'refuses a client that has seen its last zxid',
    replace: behind,
    with: behind.replace('>', '>='),
  },
  {
    clause: 'handshake/23',
    does: 'closes the older connection of a session before it compares the zxid',
    replace: behind,
    with: `if (request.sessionId !== 0n) this.port.closeSession(request.sessionId, this)\n${behind}`,
  },
]

import type { BrokenServer } from './broken-server.ts'

const touch = '!this.touch(client.sessionId, client.timeOut)'
const reply = 'this.#reply(message, zxid, err, request?.rule, response)'

export const sessions: readonly BrokenServer[] = [
  {
    clause: 'sessions/1',
    does: 'resumes a session under another id',
    replace: 'const session = { sessionId, timeOut, passwd: generatePasswd(sessionId), readOnly }',
    with: `const id = createSession === undefined ? sessionId + 1n : sessionId
      const session = { sessionId: id, timeOut, passwd: generatePasswd(sessionId), readOnly }`,
  },
  {
    clause: 'sessions/4',
    does: 'closes the connection instead of answering closeSession',
    replace: reply,
    with: `if (message.op !== 'closeSession') ${reply}`,
  },
  {
    clause: 'sessions/5',
    does: 'keeps the connection after closeSession',
    replace: 'end(reason: string): void {',
    with: "end(reason: string): void {\n if (reason === 'the client closed the session') return",
  },
  {
    clause: 'sessions/8',
    does: 'never lets a session expire',
    replace: 'session.isClosing = true\n this.#expire(session.id)',
    with: '',
  },
  {
    clause: 'sessions/9',
    does: 'lets a session expire after half its timeout',
    replace: 'const expiresAt = this.#roundUp(now + timeOut)',
    with: 'const expiresAt = this.#roundUp(now + timeOut / 2)',
  },
  {
    clause: 'sessions/11',
    does: 'keeps the connection of a session that has expired',
    replace:
      "const reason = entry.header.cxid === 0 ? 'the session has expired' : 'the client closed the session elsewhere'",
    with: "if (entry.header.cxid === 0) return\n const reason = ''",
  },
  {
    clause: 'sessions/12',
    does: 'does not let pings keep a session alive',
    replace: touch,
    with: `(request.message.op !== 'ping' && ${touch})`,
  },
  {
    clause: 'sessions/13',
    does: 'lets pings alone keep a session alive',
    replace: touch,
    with: `(request.message.op === 'ping' && ${touch})`,
  },
  {
    clause: 'sessions/14',
    does: 'lets auth keep a session alive',
    replace: 'const refusal = isMalformed ? undefined : refusalOf(rule)',
    with: 'this.port.member.touchBy(this)\n const refusal = isMalformed ? undefined : refusalOf(rule)',
  },
  {
    clause: 'sessions/15',
    does: 'does not let a handshake keep a session alive',
    replace: 'const isValid = this.tracker.touch(sessionId, timeOut)',
    with: 'const isValid = this.tracker.get(sessionId)?.isClosing === false',
  },
  {
    clause: 'sessions/16',
    does: 'refuses sessions that were opened at other servers',
    replace: 'return tracker !== undefined && tracker.touch(sessionId, timeOut) && tracker.setOwner(sessionId, owner)',
    with: 'return false',
  },
  {
    clause: 'sessions/18',
    does: 'executes writes on the older connection of a session that has moved',
    replace: 'return session.owner === owner ? ErrorCode.Ok : ErrorCode.SessionMoved',
    with: 'return ErrorCode.Ok',
  },
  {
    clause: 'sessions/19',
    does: 'answers writes on the older connection of a session that has moved with SessionMoved',
    replace: 'if (err === ErrorCode.SessionMoved && !isAnswered)',
    with: 'if (false)',
  },
  {
    clause: 'sessions/22',
    does: 'does not tell the leader of pings to a follower',
    replace: 'this.server?.tracker.touch(sessionId, timeOut)',
    with: '',
  },
  {
    clause: 'sessions/23',
    does: 'forgets all sessions when another leader is elected',
    replace: 'new SessionTracker(process, settings.tickTime, database.sessions, (id) => this.#close(id))',
    with: 'new SessionTracker(process, settings.tickTime, new Map(), (id) => this.#close(id))',
  },
  {
    clause: 'sessions/25',
    does: 'never shortens the life of a session',
    replace: 'if (expiresAt === element.expiresAt) return',
    with: 'if (expiresAt <= element.expiresAt) return',
  },
]

import type { BrokenClient } from './broken-client.ts'

const PING_AND_BROKEN = `return Math.min(this.#lastTouchButOneAt, this.#receivedAt) + interval }
  /** When an established connection counts as dead. */
  get brokenAt(): number { return`

export const brokenClients: readonly BrokenClient[] = [
  {
    duty: 1,
    does: 'asks for protocol version 1',
    replace: 'const record = { protocolVersion: 0,',
    with: 'const record = { protocolVersion: 1,',
  },
  {
    duty: 2,
    does: 'begins a session with a password of its own',
    replace: 'const passwd = isKnown ? this.#passwd : NO_PASSWD',
    with: 'const passwd = isKnown ? this.#passwd : new Uint8Array(16).fill(7)',
  },
  {
    duty: 3,
    does: 'resumes its session with an empty password',
    replace: 'const passwd = isKnown ? this.#passwd : NO_PASSWD',
    with: 'const passwd = NO_PASSWD',
  },
  {
    duty: 4,
    does: 'sends lastZxidSeen 0',
    replace: 'return this.identity.connectFrame(this.pipeline.lastZxid)',
    with: 'return this.identity.connectFrame(0n)',
    // So a server that is behind accepts it, and then answers no request.
    also: [37],
  },
  {
    duty: 5,
    does: 'asks for a session timeout of 0',
    replace: 'this.#request = connectFrame({ lastZxidSeen, timeOut, sessionId, passwd, readOnly })',
    with: 'this.#request = connectFrame({ lastZxidSeen, timeOut: 0, sessionId, passwd, readOnly })',
  },
  {
    duty: 6,
    does: 'leaves out the byte readOnly',
    replace: 'return encodeFrame((writer) => ConnectRequest.write(writer, record))',
    with: 'return encodeFrame((writer) => { ConnectRequest.write(writer, record); writer.truncate(writer.length - 1) })',
  },
  {
    duty: 9,
    does: 'pings with the xid 0',
    replace: '{ xid: Xid.ping, type: OpCode.ping }',
    with: '{ xid: 0, type: OpCode.ping }',
  },
  {
    duty: 11,
    does: 'sets watches again with the xid -3',
    replace: 'return ofConnection(operation, wire, request, { fixedXid: Xid.setWatches })',
    with: 'return ofConnection(operation, wire, request, { fixedXid: -3 })',
  },
  {
    duty: 15,
    does: 'stays with a silent server',
    replace: 'get brokenAt(): number { return',
    with: 'get brokenAt(): number { return Infinity +',
  },
  {
    duty: 18,
    does: 'tries a server again that has just refused it',
    replace: 'const target = this.servers.next()',
    with: 'const target = (this.again ??= this.servers.next())',
    // A server that was removed does not accept it any more.
    also: [16],
  },
  {
    duty: 19,
    does: 'connects again without a pause',
    replace: 'const pause = isLeft ? 0 : this.servers.pause(this.identity.timeout)',
    with: 'const pause = 0',
  },
  {
    duty: 21,
    does: 'forgets the watches of children',
    replace: '...listsOf(oneShot),',
    with: '...listsOf(oneShot), childWatches: [],',
  },
  {
    duty: 21,
    does: 'sets a watch of a missing node among those of data',
    replace: '...listsOf(oneShot),',
    with: '...(({ dataWatches = [], existWatches = [], ...others }) => ({ ...others, dataWatches: [...dataWatches, ...existWatches] }))(listsOf(oneShot)),',
  },
  {
    duty: 22,
    does: 'forgets persistent watches',
    replace: "persistentWatches: pathsOf('persistent'),",
    with: 'persistentWatches: [],',
  },
  {
    duty: 22,
    does: 'forgets recursive watches',
    replace: "persistentRecursiveWatches: pathsOf('recursive'),",
    with: 'persistentRecursiveWatches: [],',
  },
  {
    duty: 23,
    does: 'sets watches again from the zxid 0',
    replace: 'const requests = setWatchesRequests( this.#lastZxid(),',
    with: 'const requests = setWatchesRequests( 0n,',
  },
  {
    duty: 25,
    does: 'sends its credentials once',
    replace: 'this.#unanswered.drop() this.#sentHere.clear()',
    with: 'this.#unanswered.drop()',
  },
  {
    duty: 26,
    does: 'sends its credentials after its watches',
    replace: 'this.pipeline.sendCredentials(segment) const before = segment.frames',
    with: "const before = segment.frames; if (state.name === 'connected') this.pipeline.send(now, SEGMENT_SIZE, segment); this.pipeline.sendCredentials(segment);",
  },
  {
    duty: 36,
    does: 'pings a hundred times at once',
    replace: 'export const pings: readonly Uint8Array[] = [ping, ping]',
    with: 'export const pings: readonly Uint8Array[] = new Array(100).fill(ping)',
  },
  {
    duty: 34,
    does: 'sends a request after closeSession',
    replace: "if (state.name === 'connected') this.pipeline.send(now, SEGMENT_SIZE, segment)",
    with: "if (state.name === 'connected') { this.pipeline.send(now, SEGMENT_SIZE, segment); if (this.#phase.name === 'closing' && !this.late) { this.late = true; for (const each of pings) segment.add(each) } }",
  },
  {
    duty: 7,
    does: 'pings after 0.9 of the session timeout',
    replace: PING_AND_BROKEN,
    with: 'return Math.min(this.#lastTouchButOneAt, this.#receivedAt) + interval * (this.times.T > 2_000 ? 2.7 : 1) } get brokenAt(): number { return this.times.T * 0.3 +',
  },
  {
    duty: 8,
    does: 'pings by the session timeout that it asked for',
    replace: PING_AND_BROKEN,
    with: 'return Math.min(this.#lastTouchButOneAt, this.#receivedAt) + deadlines.ping({ T: this.#of.config.sessionTimeout, servers: 1 }) } get brokenAt(): number { return (this.times.T > 2_000 ? 0 : 500) +',
  },
  {
    duty: 12,
    does: 'counts its xids from -100,000 on',
    replace: 'if (resume === undefined) return 1',
    with: 'if (resume === undefined) return -100_000',
  },
  {
    duty: 13,
    does: 'counts its xids down',
    replace: 'return xid >= LAST_XID ? 1 : xid + 1',
    with: 'return xid < 10_000 ? 1_000_000 : xid - 1',
  },
  {
    duty: 16,
    does: 'waits for a minute before it connects again',
    replace: 'const pause = isLeft ? 0 : this.servers.pause(this.identity.timeout)',
    with: 'const pause = 60_000',
  },
  {
    duty: 17,
    does: 'begins a new session on each connection',
    replace: 'const isKnown = this.#isKnownToEnsemble const sessionId',
    with: 'const isKnown = false; const sessionId',
  },
  {
    duty: 24,
    does: 'sets watches again that have fired',
    replace: 'const away = new Map<string, WatchMode>()',
    with: "const away = new Map<string, WatchMode>(); oneShot.push({ kind: 'data', path: '/conform/fired' })",
  },
  {
    duty: 28,
    does: 'resumes a session that has expired',
    replace: "if (answer === 'expired') return this.#end('SessionExpired', { byServer: true })",
    with: "if (answer === 'expired') return this.#hangUp(new Error('again'), now)",
  },
  {
    duty: 29,
    does: 'goes on with its session after it was given another one',
    replace: "if (answer === 'otherSession') {",
    with: "if (answer === 'otherSession') { return this.#hangUp(new Error('again'), now)",
  },
  {
    duty: 30,
    does: 'ignores a frame with an impossible length',
    replace: 'this.#hangUp(this.#explained(error), now)',
    with: "if (!error.message.includes('cannot have')) this.#hangUp(this.#explained(error), now)",
  },
  {
    duty: 31,
    does: 'takes any reply for that of its oldest request',
    replace: 'if (request === undefined || request.xid !== reply.xid) {',
    with: 'if (request === undefined) return undefined; if (false) {',
  },
  {
    duty: 32,
    does: 'wants the length of a frame in one piece',
    replace: 'let isOfReplies = isEstablished(this.#state)',
    with: "if (bytes.byteLength < 4) throw new ProtocolError('short'); let isOfReplies = isEstablished(this.#state)",
  },
  {
    duty: 35,
    does: 'leaves its session when it is closed',
    replace: 'close(last?: Request): Promise<void> {',
    with: 'close(last: Request | undefined = lastRequest()): Promise<void> {',
  },
  {
    duty: 37,
    does: 'leaves a server that it has had for a while',
    replace: 'get brokenAt(): number { return Math.min(',
    with: 'get brokenAt(): number { return Math.min(this.#connectedAt + 2_500,',
  },
  {
    duty: 27,
    does: 'sends writes again whose replies were lost',
    replace: "const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')",
    with: 'const repeated = alive',
  },
  {
    duty: 21,
    does: 'sets no watch again',
    replace: 'if (this.#paths.isEmpty) return [] const oneShot',
    with: 'if (this !== undefined) return []; const oneShot',
    also: [22],
  },
  {
    duty: 38,
    does: 'waits for an answer to its handshake for a minute',
    replace: 'return Math.max(began + time, now + time / 2)',
    with: 'return Math.max(began + time, now + time / 2) + 60_000',
  },
]

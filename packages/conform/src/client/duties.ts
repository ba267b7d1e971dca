// What a client of ZooKeeper does, clause by clause. All of it shows in the frames that the client sends.
import { hex } from '@zk/client/internal'
import { encode, type OperationName, operations, type Type, Xid } from '@zk/wire'
import {
  type ClientLog,
  lastHeard,
  type LoggedConnection,
  type LoggedRequest,
  replyTo,
  requestsOf,
  sessionOf,
  sessionsOf,
  timeoutOf,
} from './client-log.ts'
import type { Duty, Witness } from './duty.ts'
import { watchesAt } from './watches-at.ts'

/** What a busy machine may add to a time of a client, in ms. */
const SLACK = 300

export const duties: readonly Duty[] = [
  {
    number: 1,
    text: 'The first frame of a connection is a ConnectRequest, with the protocol version 0.',
    source: 'ClientCnxn.SendThread.primeConnection, ZooKeeperServer.processConnectRequest',
    shows: 'the client connects',
    look: ({ connections }, witness) => {
      for (const connection of connections) {
        const { handshake, isUnreadable } = connection
        if (isUnreadable)
          witness.check(false, () => `${named(connection)} began with a frame that is no ConnectRequest`)
        if (handshake === undefined) continue
        const { protocolVersion } = handshake.request
        witness.check(protocolVersion === 0, () => `${named(connection)} asked for protocol version ${protocolVersion}`)
      }
    },
  },
  {
    number: 2,
    text: 'Who begins a session sends the session id 0 and a password of 16 zero bytes.',
    source: 'ClientCnxn (sessionPasswd), ConnectRequest',
    level: 'SHOULD',
    shows: 'the client begins a session',
    look: (log, witness) => {
      for (const { connection, request } of handshakesOf(log)) {
        if (request.sessionId !== 0n) continue
        const passwd = request.passwd ?? new Uint8Array(0)
        const isBlank = passwd.length === 16 && passwd.every((byte) => byte === 0)
        witness.check(isBlank, () => `${named(connection)} began a session with a password of its own`)
      }
    },
  },
  {
    number: 3,
    text: 'Who resumes a session sends the id and the password that a server has granted.',
    source: 'ClientCnxn.SendThread.primeConnection, ZooKeeperServer.reopenSession',
    shows: 'the client resumes a session',
    look: ({ connections }, witness) => {
      const granted = new Map<bigint, Uint8Array>()
      for (const connection of connections) {
        const request = connection.handshake?.request
        if (request !== undefined && request.sessionId !== 0n) {
          const known = granted.get(request.sessionId)
          if (known === undefined) {
            witness.check(
              false,
              () => `${named(connection)} resumed the session ${hex(request.sessionId)}, which no server has granted`,
            )
          } else {
            witness.check(
              isSame(known, request.passwd),
              () => `${named(connection)} resumed its session with another password`,
            )
          }
        }
        const session = sessionOf(connection)
        const passwd = connection.answer?.response.passwd
        if (session !== undefined && passwd) granted.set(session, passwd)
      }
    },
  },
  {
    number: 4,
    text: 'Who resumes a session sends as `lastZxidSeen` the highest zxid of the replies that it has received.',
    source: 'ClientCnxn.SendThread.readResponse (lastZxid), ZooKeeperServer.processConnectRequest',
    shows: 'the client resumes a session after replies',
    look: (log, witness) => {
      for (const { connection, before, request } of resumesOf(log)) {
        const { least, most } = zxidsSeen(before)
        if (most === 0n) continue
        const seen = request.lastZxidSeen
        witness.check(
          seen >= least && seen <= most,
          () => `${named(connection)} sent lastZxidSeen ${hex(seen)}, and had received ${hex(least)}`,
        )
      }
    },
  },
  {
    number: 5,
    text: 'A handshake asks for a session timeout above 0.',
    source: 'ConnectRequest, ZooKeeperServer.processConnectRequest (minSessionTimeout)',
    level: 'SHOULD',
    shows: 'the client connects',
    look: (log, witness) => {
      for (const { connection, request } of handshakesOf(log)) {
        witness.check(
          request.timeOut > 0,
          () => `${named(connection)} asked for a session timeout of ${request.timeOut} ms`,
        )
      }
    },
  },
  {
    number: 6,
    text: 'A handshake ends with the byte `readOnly`. Without it, a server takes the client for one before 3.4.',
    source: 'ConnectRequest, ZOOKEEPER-784',
    level: 'MAY',
    shows: 'the client connects',
    look: (log, witness) => {
      for (const { connection, request } of handshakesOf(log)) {
        witness.check(request.readOnly !== undefined, () => `${named(connection)} left out the byte readOnly`)
      }
    },
  },
  {
    number: 7,
    text: 'A client that sends nothing else sends a ping before 2/3 of the session timeout have passed.',
    source: 'ClientCnxn.SendThread.run (readTimeout / 2), ZooKeeperServer.touch',
    shows: 'the client is idle on a connection whose session timeout is what it asked for',
    look: (log, witness) => pingsInTime(log, witness, (wished, granted) => granted >= wished),
  },
  {
    number: 8,
    text: 'If the server grants another session timeout than asked for, the client pings by the granted one.',
    source: 'ClientCnxn.SendThread.onConnected (negotiatedSessionTimeout)',
    shows: 'the client is idle on a connection with a shorter session timeout than it asked for',
    look: (log, witness) => pingsInTime(log, witness, (wished, granted) => granted < wished),
  },
  {
    number: 9,
    text: 'A ping has the xid -2.',
    source: 'ClientCnxn.PING_XID',
    shows: 'the client pings',
    look: (log, witness) => xidsOf(log, witness, 'ping', (xid) => xid === Xid.ping),
  },
  {
    number: 10,
    text: 'A credential has the xid -4.',
    source: 'ClientCnxn.AUTHPACKET_XID',
    level: 'SHOULD',
    shows: 'the client sends a credential',
    look: (log, witness) => xidsOf(log, witness, 'auth', (xid) => xid === Xid.auth),
  },
  {
    number: 11,
    text: 'A request that sets watches again has the xid -8 or an ordinary one: ZooKeeper’s own client means to send the first, and sends the second.',
    source: 'ClientCnxn.SET_WATCHES_XID, ClientCnxnSocketNIO.doIO (setXid)',
    shows: 'the client sets watches again',
    look: (log, witness) => {
      const isRight = (xid: number): boolean => xid === Xid.setWatches || xid >= 0
      xidsOf(log, witness, 'setWatches', isRight)
      xidsOf(log, witness, 'setWatches2', isRight)
    },
  },
  {
    number: 12,
    text: 'Any other request has an xid of 0 or more: negative ones have meanings of their own.',
    source: 'ClientCnxn.getXid, ZOOKEEPER-2253',
    shows: 'the client sends a request',
    look: ({ connections }, witness) => {
      for (const connection of connections) {
        for (const { at, message } of ordinary(connection)) {
          witness.check(
            message.xid >= 0,
            () => `${named(connection)} sent ${message.op} with the xid ${message.xid}, at ${time(at)}`,
          )
        }
      }
    },
  },
  {
    number: 13,
    text: 'On a connection each request has a greater xid than the one before it, unless the numbers begin again after a very large one.',
    source: 'ClientCnxn.getXid',
    level: 'SHOULD',
    shows: 'the client sends two requests on a connection',
    look: ({ connections }, witness) => {
      for (const connection of connections) {
        let before: number | undefined
        for (const { at, message } of ordinary(connection)) {
          if (message.xid < 0) continue
          const last = before
          before = message.xid
          if (last === undefined) continue
          const isInOrder = message.xid > last || last > 2 ** 30
          witness.check(
            isInOrder,
            () => `${named(connection)} sent the xid ${message.xid} after ${last}, at ${time(at)}`,
          )
        }
      }
    },
  },
  {
    number: 14,
    text: 'A server can read every request.',
    source: 'NIOServerCnxn.readRequest, ZooKeeperServer.processPacket',
    shows: 'the client sends a request',
    look: ({ connections }, witness) => {
      for (const connection of connections) {
        const requests = requestsOf(connection)
        if (requests.length === 0) continue
        const { closedBy, reason } = connection
        const isRead = closedBy !== 'server' || !/malformed|over the limit|negative|length/.test(reason)
        const unread = requests.find(({ message: { op, request } }) => {
          const record = op === undefined ? undefined : operations[op].request
          return record !== undefined && request === undefined
        })
        witness.check(
          isRead && unread === undefined,
          () => `${named(connection)} sent ${unread?.message.op ?? 'a frame'} that the server cannot read`,
        )
      }
    },
  },
  {
    number: 15,
    text: 'A client leaves a connection on which nothing has arrived for the session timeout.',
    source: 'ClientCnxn.SendThread.run (SessionTimeoutException), readTimeout of 2/3',
    shows: 'a server falls silent',
    look: ({ connections, endsAt }, witness) => {
      for (const connection of connections) {
        const heard = lastHeard(connection)
        if (connection.silentSince === undefined || heard === undefined) continue
        const due = heard + timeoutOf(connection) + SLACK
        if (connection.closedAt >= endsAt && due > endsAt) continue
        witness.check(
          connection.closedAt <= due,
          () =>
            `${named(connection)} had received nothing from ${time(heard)} on, and was not left before ${time(connection.closedAt)}`,
        )
      }
    },
  },
  {
    number: 16,
    text: 'A client whose connection is lost connects again before its session can expire, if a server accepts it.',
    source: 'ClientCnxn.SendThread.startConnect',
    shows: 'a connection is lost',
    look: (log, witness) => {
      for (const [connection, next] of followed(log)) {
        const from = freeFrom(log, connection.closedAt)
        const due = from + timeoutOf(connection) + SLACK
        const at = next?.openedAt ?? Infinity
        if (at === Infinity && due > log.endsAt) continue
        witness.check(
          at <= due,
          () =>
            `${named(connection)} was lost at ${time(connection.closedAt)}, and the client did not connect again ${next === undefined ? '' : `before ${time(at)}`}`,
        )
      }
    },
  },
  {
    number: 17,
    text: 'A client resumes its session after a connection was lost; it does not begin a new one.',
    source: 'ClientCnxn.SendThread.primeConnection',
    shows: 'a connection is lost',
    look: (log, witness) => {
      for (const [connection, next] of followed(log)) {
        const request = next?.handshake?.request
        if (next === undefined || request === undefined) continue
        // After so long the client may take the session for expired.
        if (next.handshake!.at - (lastHeard(connection) ?? 0) > timeoutOf(connection)) continue
        witness.check(
          request.sessionId !== 0n,
          () => `${named(next)} began a new session, although that of ${named(connection)} had not expired`,
        )
      }
    },
  },
  {
    number: 18,
    text: 'A client that has lost its server, or was not answered by it, tries another one next.',
    source: 'StaticHostProvider.next',
    level: 'SHOULD',
    shows: 'a server closes the connection without an answer to the handshake',
    look: ({ connections, outages }, witness) => {
      for (const [index, connection] of connections.entries()) {
        const next = connections[index + 1]
        // Attempts in between do not show.
        if (
          outages.some(
            ({ isRefusing, from, to }) => isRefusing && connection.closedAt >= from && connection.openedAt <= to,
          )
        )
          continue
        if (connection.handshake === undefined || connection.answer !== undefined || connection.closedBy !== 'server')
          continue
        if (next === undefined) continue
        witness.check(
          next.member !== connection.member,
          () => `${named(next)} is at the server that has just refused ${named(connection)}`,
        )
      }
    },
  },
  {
    number: 19,
    text: 'A client whose attempts fail pauses: it does not connect more than 50 times in a second.',
    source: 'ClientCnxn.SendThread.startConnect (a random pause of up to 1 s)',
    level: 'SHOULD',
    shows: 'several attempts in a row fail',
    look: ({ connections }, witness) => {
      const failed = connections.filter(({ answer }) => answer === undefined)
      if (failed.length < 4) return
      const worst = failed.findLast((connection, index) => {
        const later = failed[index + 50]
        return later !== undefined && later.openedAt - connection.openedAt < 1_000
      })
      witness.check(
        worst === undefined,
        () => `from ${named(worst!)} on the client connected more than 50 times in a second`,
      )
    },
  },
  {
    number: 20,
    text: 'A session has one connection at a time: a client closes the old one before it resumes the session on another.',
    source: 'ClientCnxn.SendThread.cleanup',
    level: 'SHOULD',
    shows: 'the client resumes a session',
    look: (log, witness) => {
      for (const { connection, before } of resumesOf(log)) {
        const open = before.find(
          (each) => each.closedAt > connection.openedAt + SLACK && each.silentSince === undefined,
        )
        witness.check(
          open === undefined,
          () => `${named(connection)} was opened while ${named(open!)} was still in use`,
        )
      }
    },
  },
  {
    number: 21,
    text: 'After a reconnection the client sets its watches again, each in the list of its kind: data, exists on a missing node, children.',
    source: 'ClientCnxn.SendThread.primeConnection, DataTree.setWatches',
    // ZooKeeper's own client can be told to leave it (disableAutoWatchReset). kazoo tells its watchers instead.
    level: 'SHOULD',
    shows: 'the client resumes a session in which watches are left',
    look: (log, witness) => {
      for (const [connection, before] of establishedResumes(log)) {
        const wanted = watchesAt(before).oneShot
        const set = pathsSetAgain(connection)
        for (const { kind, path, isSure } of wanted) {
          if (!isSure) continue
          witness.check(
            set[kind].has(path),
            () => `${named(connection)} did not set the ${kind} watch of ${path} again`,
          )
        }
      }
    },
  },
  {
    number: 22,
    text: 'Persistent and recursive watches are set again with setWatches2.',
    source: 'ClientCnxn.SendThread.primeConnection, ZOOKEEPER-1416',
    // ZooKeeper's own client can be told to leave it (disableAutoWatchReset). kazoo tells its watchers instead.
    level: 'SHOULD',
    shows: 'the client resumes a session with persistent watches',
    look: (log, witness) => {
      for (const [connection, before] of establishedResumes(log)) {
        const wanted = watchesAt(before).persistent
        const set = pathsSetAgain(connection)
        for (const { kind, path } of wanted) {
          witness.check(
            set[kind].has(path),
            () => `${named(connection)} did not set the ${kind} watch of ${path} again`,
          )
        }
      }
    },
  },
  {
    number: 23,
    text: 'The request that sets watches again has as `relativeZxid` the last zxid that the client has seen: an event of an earlier change would come twice, an event of a later one would be missed.',
    source: 'ClientCnxn.SendThread.primeConnection (lastZxid), DataTree.setWatches',
    shows: 'the client sets watches again',
    look: (log, witness) => {
      for (const [connection, before] of establishedResumes(log)) {
        const first = setsAgain(connection)[0]
        if (first === undefined) continue
        const { relativeZxid } = first.message.request as { readonly relativeZxid: bigint }
        const { least, most } = zxidsSeen(before)
        const here = zxidsSeen([{ ...connection, frames: connection.frames.filter(({ at }) => at <= first.at) }])
        const highest = here.most > most ? here.most : most
        witness.check(
          relativeZxid >= least && relativeZxid <= highest,
          () => `${named(connection)} sent relativeZxid ${hex(relativeZxid)}, and had seen ${hex(least)}`,
        )
      }
    },
  },
  {
    number: 24,
    text: 'A watch that has fired is not set again.',
    source: 'ZKWatchManager.materialize',
    level: 'SHOULD',
    shows: 'the client sets watches again after one has fired',
    look: (log, witness) => {
      for (const [connection, before] of establishedResumes(log)) {
        if (setsAgain(connection).length === 0 && watchesAt(before).oneShot.length === 0) continue
        const set = pathsSetAgain(connection, 1)
        for (const { kind, path } of watchesAt(before).fired) {
          witness.check(
            !set[kind].has(path),
            () => `${named(connection)} set the ${kind} watch of ${path} again, which had fired`,
          )
        }
      }
    },
  },
  {
    number: 25,
    text: 'A client sends each of its credentials again on every connection.',
    source: 'ClientCnxn.SendThread.primeConnection (authInfo)',
    shows: 'the client connects again after it has sent credentials',
    look: (log, witness) => {
      const known = new Set<string>()
      for (const connection of log.connections) {
        const sent = new Set(requestsOf(connection).flatMap((request) => bodyIf(request, 'auth')))
        // A connection may be used only to close a session that was not asked for.
        const isUsed = requestsOf(connection).some(({ message }) => message.op !== 'closeSession')
        if (sessionOf(connection) !== undefined && isUsed) {
          for (const each of known)
            witness.check(
              sent.has(each),
              () => `${named(connection)} did not get all credentials that the client had sent before`,
            )
        }
        for (const each of sent) known.add(each)
      }
    },
  },
  {
    number: 26,
    text: 'Credentials go before all other requests of a connection: otherwise these are executed without them.',
    level: 'SHOULD',
    source: 'ClientCnxn.SendThread.primeConnection',
    shows: 'the client connects again after it has sent credentials',
    look: (log, witness) => {
      const known = new Set<string>()
      for (const connection of log.connections) {
        const requests = requestsOf(connection)
        const first = requests.findIndex(
          ({ message }) => message.op !== 'auth' && message.op !== 'ping' && message.op !== 'sasl',
        )
        const sent = new Set<string>()
        for (const [index, request] of requests.entries()) {
          for (const body of bodyIf(request, 'auth')) {
            // A second time does no harm.
            if (known.has(body) && !sent.has(body))
              witness.check(
                first === -1 || index < first,
                () => `${named(connection)} got ${requests[first]!.message.op} before the credentials`,
              )
            sent.add(body)
          }
        }
        for (const body of sent) known.add(body)
      }
    },
  },
  {
    number: 27,
    text: 'A write whose reply was lost is not sent again: it may have been executed.',
    source: 'ClientCnxn.conLossPacket',
    shows: 'the reply to a write is lost',
    level: 'SHOULD',
    look: (log, witness) => {
      for (const connections of sessionsOf(log).values()) {
        const lost: {
          readonly connection: LoggedConnection
          readonly request: LoggedRequest
          readonly body: string
        }[] = []
        for (const connection of connections) {
          for (const { connection: of, request, body } of lost.splice(0)) {
            const again = requestsOf(connection).find(
              (each) => each.message.opCode === request.message.opCode && bodyOf(each) === body,
            )
            witness.check(
              again === undefined,
              () => `${named(connection)} got the ${request.message.op} of ${named(of)} again, at ${time(again!.at)}`,
            )
          }
          for (const request of requestsOf(connection)) {
            const { op } = request.message
            if (op === undefined || operations[op].kind !== 'write') continue
            if (replyTo(connection, request)?.arrival === 'no')
              lost.push({ connection, request, body: bodyOf(request) })
          }
        }
      }
    },
  },
  {
    number: 28,
    text: 'A client that was told that its session has expired never names it again.',
    source: 'ClientCnxn.SendThread.onConnected (SessionExpiredException)',
    shows: 'a session expires',
    look: ({ connections }, witness) => {
      for (const [index, connection] of connections.entries()) {
        const { handshake, answer } = connection
        if (handshake === undefined || answer === undefined || answer.arrival === 'no' || answer.response.timeOut > 0)
          continue
        const { sessionId } = handshake.request
        const again = connections.slice(index + 1).find((each) => each.handshake?.request.sessionId === sessionId)
        witness.check(
          again === undefined,
          () => `${named(again!)} named the session ${hex(sessionId)}, which ${named(connection)} had shown to be over`,
        )
      }
    },
  },
  {
    number: 29,
    text: 'A client that resumes a session and is given another one is done with the old one, and never names it again.',
    source: 'ClientCnxn.SendThread.onConnected (sessionId)',
    shows: 'a server answers a resume with another session',
    look: ({ connections }, witness) => {
      for (const [index, connection] of connections.entries()) {
        const asked = connection.handshake?.request.sessionId ?? 0n
        const given = sessionOf(connection)
        if (asked === 0n || given === undefined || given === asked || connection.answer!.arrival === 'no') continue
        const again = connections.slice(index + 1).find((each) => each.handshake?.request.sessionId === asked)
        witness.check(
          again === undefined,
          () => `${named(again!)} named the session ${hex(asked)}, although ${named(connection)} was given another`,
        )
      }
    },
  },
  {
    number: 30,
    text: 'A frame that cannot be read, such as one with a negative length, ends the connection.',
    source: 'ClientCnxnSocket.readLength',
    shows: 'a server sends a frame with an impossible length',
    look: (log, witness) =>
      leavesAfter(log, witness, 'an impossible length', (reply) => garbageKind(log, reply.at) === 'length'),
  },
  {
    number: 31,
    text: 'A reply with an xid that no request has ends the connection: answers would be given to wrong requests.',
    source: 'ClientCnxn.SendThread.readResponse (Xid out of order)',
    level: 'SHOULD',
    shows: 'a server sends a reply with a wrong xid',
    look: (log, witness) =>
      leavesAfter(log, witness, 'a reply with a wrong xid', (reply) => garbageKind(log, reply.at) === 'xid'),
  },
  {
    number: 32,
    text: 'A frame may come in pieces, and is read when it is whole.',
    source: 'ClientCnxnSocketNIO.doIO',
    shows: 'a reply comes in two pieces',
    look: (log, witness) => staysAfter(log, witness, 'split', 'a reply in two pieces'),
  },
  {
    number: 33,
    text: 'Several frames may come at once, and all of them are read.',
    source: 'ClientCnxnSocketNIO.doIO',
    shows: 'two frames come in one piece',
    look: (log, witness) => staysAfter(log, witness, 'merge', 'two frames in one piece'),
  },
  {
    number: 34,
    text: 'Nothing is sent in a session after closeSession.',
    source: 'ClientCnxn.disconnect, FinalRequestProcessor',
    shows: 'the client closes its session',
    look: ({ connections }, witness) => {
      for (const [index, connection] of connections.entries()) {
        const requests = requestsOf(connection)
        const close = requests.findIndex(({ message }) => message.op === 'closeSession')
        if (close === -1) continue
        const session = sessionOf(connection)
        const after = requests[close + 1]
        const resumed = connections.slice(index + 1).find((each) => each.handshake?.request.sessionId === session)
        const isOver = connection.frames.some(
          (frame) => frame.type === 'reply' && frame.message.op === 'closeSession' && frame.arrival === 'yes',
        )
        witness.check(
          after === undefined && !(isOver && resumed !== undefined),
          () => `${named(connection)} got ${after?.message.op ?? 'a successor'} after closeSession`,
        )
      }
    },
  },
  {
    number: 35,
    text: 'A client that ends on purpose closes its session: otherwise its ephemeral nodes stay until the session expires.',
    source: 'ZooKeeper.close',
    level: 'SHOULD',
    shows: 'the client is told to close',
    look: (log, witness) => {
      if (log.closeAt === undefined || !log.isToClose) return
      const last = log.connections.findLast((connection) => sessionOf(connection) !== undefined)
      // Without a connection it cannot close anything.
      if (last === undefined || last.closedAt < log.closeAt) return
      const isClosed = requestsOf(last).some(({ message }) => message.op === 'closeSession')
      witness.check(isClosed, () => `${named(last)} ended without closeSession`)
    },
  },
  {
    number: 36,
    text: 'A client does not ping more often than ten times in the third of a session timeout.',
    source: 'ClientCnxn.SendThread.run',
    level: 'SHOULD',
    shows: 'the client pings',
    look: ({ connections }, witness) => {
      for (const connection of connections) {
        const pings = requestsOf(connection).filter(({ message }) => message.op === 'ping')
        if (pings.length < 2) continue
        const third = timeoutOf(connection) / 3
        const worst = pings.find(({ at }, index) => (pings[index + 10]?.at ?? Infinity) - at < third)
        witness.check(
          worst === undefined,
          () => `${named(connection)} sent more than ten pings within ${third} ms, from ${time(worst!.at)} on`,
        )
      }
    },
  },
  {
    number: 37,
    text: 'A client keeps a connection whose server answers.',
    source: 'ClientCnxn.SendThread.run',
    level: 'SHOULD',
    shows: 'the client is connected to a server that answers',
    look: ({ connections, closeAt = Infinity, endsAt }, witness) => {
      for (const connection of connections) {
        const { answer, closedAt, closedBy, silentSince, frames } = connection
        const isHurt =
          silentSince !== undefined || frames.some((frame) => frame.type === 'reply' && frame.fault !== undefined)
        const isAnother = ![0n, sessionOf(connection)].includes(connection.handshake?.request.sessionId)
        if (sessionOf(connection) === undefined || answer?.arrival === 'no' || isHurt || isAnother) continue
        const isClosed = requestsOf(connection).some(({ message }) => message.op === 'closeSession')
        const isLeft = closedBy === 'client' && closedAt < Math.min(closeAt, endsAt) && !isClosed
        witness.check(!isLeft, () => `${named(connection)} was left at ${time(closedAt)} without a reason`)
      }
    },
  },
  {
    number: 38,
    text: 'A client whose handshake is not answered leaves the connection before its session can expire.',
    source: 'ClientCnxn.SendThread.run (connectTimeout)',
    shows: 'a server accepts the connection, and does not answer the handshake',
    look: ({ connections, endsAt }, witness) => {
      for (const [index, connection] of connections.entries()) {
        const { handshake, closedAt, closedBy } = connection
        if (handshake?.fault !== 'loseRequest' || closedBy === 'server') continue
        const before = connections.slice(0, index).findLast((each) => sessionOf(each) !== undefined)
        const due = handshake.at + (before === undefined ? handshake.request.timeOut : timeoutOf(before)) + SLACK
        if (closedAt >= endsAt && due > endsAt) continue
        witness.check(
          closedAt <= due,
          () =>
            `${named(connection)} was not left before ${time(closedAt)}: its handshake, at ${time(handshake.at)}, had no answer`,
        )
      }
    },
  },
]

export const dutyId = ({ number }: Duty): string => `client/${number}`

// --- what several duties look at ------------------------------------------------------------------------------------

function handshakesOf({ connections }: ClientLog) {
  return connections.flatMap((connection) => {
    const request = connection.handshake?.request
    return request === undefined ? [] : [{ connection, request }]
  })
}

/** Each handshake that names a session, with the earlier connections of that session. */
function resumesOf(log: ClientLog) {
  const sessions = sessionsOf(log)
  return handshakesOf(log).flatMap(({ connection, request }) => {
    const all = sessions.get(request.sessionId) ?? []
    const before = all.filter(({ number }) => number < connection.number)
    return before.length === 0 ? [] : [{ connection, request, before }]
  })
}

/** Connections on which a session was resumed and which were used afterwards, with those before. */
function establishedResumes(log: ClientLog): readonly (readonly [LoggedConnection, readonly LoggedConnection[]])[] {
  return (
    resumesOf(log)
      .filter(({ connection, request }) => {
        const isResumed = sessionOf(connection) === request.sessionId && connection.answer?.arrival === 'yes'
        return isResumed && connection.closedAt - connection.answer.at > SLACK
      })
      // A connection may be used only to close the session.
      .filter(({ connection }) => {
        const close = requestsOf(connection).find(({ message }) => message.op === 'closeSession')
        return close === undefined || close.at - connection.answer!.at > SLACK
      })
      .map(({ connection, before }) => [connection, before] as const)
  )
}

/** Established connections that were lost, not closed on purpose, each with the next one. */
function followed(log: ClientLog): readonly (readonly [LoggedConnection, LoggedConnection | undefined])[] {
  return log.connections.flatMap((connection, index) => {
    const isEstablished = sessionOf(connection) !== undefined && connection.answer?.arrival === 'yes'
    const isClosed = requestsOf(connection).some(({ message }) => message.op === 'closeSession')
    const isReplaced = ![0n, sessionOf(connection)].includes(connection.handshake?.request.sessionId)
    if (!isEstablished || isClosed || isReplaced || connection.closedBy === undefined) return []
    if (log.closeAt !== undefined && connection.closedAt >= log.closeAt - SLACK) return []
    return [
      [connection, log.connections.slice(index + 1).find(({ openedAt }) => openedAt >= connection.openedAt)] as const,
    ]
  })
}

/** When a server could be used again from this time on. */
function freeFrom({ outages }: ClientLog, at: number): number {
  return outages.find(({ from, to }) => at >= from - SLACK && at <= to)?.to ?? at
}

function pingsInTime(log: ClientLog, witness: Witness, applies: (wished: number, granted: number) => boolean): void {
  for (const connection of log.connections) {
    const { handshake, answer, closedAt, silentSince } = connection
    const T = timeoutOf(connection)
    if (handshake === undefined || answer?.arrival !== 'yes' || T <= 0 || !applies(handshake.request.timeOut, T))
      continue
    let last = answer.at
    const times = [...requestsOf(connection).map(({ at }) => at), Math.min(closedAt, silentSince ?? Infinity)]
    const isSeen = times.at(-1)! - last > T / 2
    for (const at of times) {
      const from = last
      last = at
      if (at - from <= (2 / 3 + 1 / 10) * T) continue
      witness.check(
        false,
        () => `${named(connection)} was silent from ${time(from)} to ${time(at)}, with a session timeout of ${T} ms`,
      )
    }
    if (isSeen) witness.kept++
  }
}

function xidsOf(
  { connections }: ClientLog,
  witness: Witness,
  op: OperationName,
  isRight: (xid: number) => boolean,
): void {
  for (const connection of connections) {
    for (const { at, message } of requestsOf(connection)) {
      if (message.op === op)
        witness.check(
          isRight(message.xid),
          () => `${named(connection)} sent ${op} with the xid ${message.xid}, at ${time(at)}`,
        )
    }
  }
}

const RESERVED: ReadonlySet<string | undefined> = new Set(['ping', 'auth', 'setWatches', 'setWatches2', 'sasl'])

function ordinary(connection: LoggedConnection): readonly LoggedRequest[] {
  return requestsOf(connection).filter(({ message: { op } }) => !RESERVED.has(op))
}

/** The zxids that the client has seen at least and at most. */
function zxidsSeen(connections: readonly LoggedConnection[]): { readonly least: bigint; readonly most: bigint } {
  let least = 0n
  let most = 0n
  for (const { frames } of connections) {
    for (const frame of frames) {
      if (frame.type === 'request' || frame.arrival === 'no') continue
      const { zxid } = frame.message
      // Java's client does not count pings.
      const isCounted = frame.type === 'reply' && frame.arrival === 'yes' && frame.message.xid >= 0
      if (isCounted && zxid > least) least = zxid
      if (zxid > most) most = zxid
    }
  }
  return { least, most }
}

function setsAgain(connection: LoggedConnection): readonly LoggedRequest[] {
  return requestsOf(connection).filter(({ message: { op } }) => op === 'setWatches' || op === 'setWatches2')
}

type Paths = readonly (string | null)[] | null | undefined

/** The paths in all such requests, or in the first ones that come before any other request. */
function pathsSetAgain(connection: LoggedConnection, most = Infinity) {
  const sets = setsAgain(connection).slice(0, most)
  const of = (list: string) => {
    const all = sets.flatMap(
      ({ message }) => (message.request as Readonly<Record<string, Paths>> | undefined)?.[list] ?? [],
    )
    return new Set(all)
  }
  return {
    data: of('dataWatches'),
    exists: of('existWatches'),
    children: of('childWatches'),
    persistent: of('persistentWatches'),
    recursive: of('persistentRecursiveWatches'),
  }
}

function leavesAfter(
  log: ClientLog,
  witness: Witness,
  what: string,
  isMeant: (reply: { readonly at: number }) => boolean,
): void {
  for (const connection of log.connections) {
    const bad = connection.frames.find((frame) => frame.type === 'reply' && frame.fault === 'garbage' && isMeant(frame))
    if (bad === undefined) continue
    const due = bad.at + Math.min(timeoutOf(connection) / 6, 1_000) + SLACK
    witness.check(
      connection.closedAt <= due,
      () => `${named(connection)} was not left after ${what}, at ${time(bad.at)}`,
    )
  }
}

/** The situation sends these replies first, then those. */
function garbageKind({ garbage }: ClientLog, at: number): 'length' | 'xid' | undefined {
  return garbage.findLast(({ from }) => from <= at)?.kind
}

function staysAfter(
  { connections, closeAt = Infinity }: ClientLog,
  witness: Witness,
  fault: string,
  what: string,
): void {
  for (const connection of connections) {
    const odd = connection.frames.find((frame) => frame.type === 'reply' && frame.fault === fault)
    if (odd === undefined) continue
    const isLeft =
      connection.closedBy === 'client' &&
      connection.closedAt < closeAt &&
      connection.closedAt - odd.at < timeoutOf(connection) + SLACK &&
      !requestsOf(connection).some(({ message }) => message.op === 'closeSession')
    witness.check(
      !isLeft,
      () => `${named(connection)} was left at ${time(connection.closedAt)} after ${what}, at ${time(odd.at)}`,
    )
  }
}

function bodyOf({ message: { op, request, rest } }: LoggedRequest): string {
  if (op === undefined || request === undefined) return `${op} ${rest?.join(' ') ?? ''}`
  const record = operations[op].request as Type<unknown> | undefined
  return record === undefined ? '' : encode(record, request).join(' ')
}

function bodyIf(request: LoggedRequest, op: OperationName): readonly string[] {
  return request.message.op === op ? [bodyOf(request)] : []
}

function isSame(one: Uint8Array, other: Uint8Array | null): boolean {
  return one.length === other?.length && one.every((byte, index) => byte === other[index])
}

const named = ({ number, member }: LoggedConnection): string => `connection ${number} (${member})`
const time = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`

import { concat, CreateMode, OpCode } from '@zk/wire'
import { toHex } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { connectFrame, intAt, requestFrame } from './frames.ts'
import type { Trial } from './trial.ts'

const UNKNOWN_SESSION = { sessionId: 0x1234_5678_9abc_def0n, passwd: new Uint8Array(16) }
/** A zxid that no server has reached. */
const FUTURE = 1n << 62n

export const handshake: Chapter = {
  name: 'handshake',
  title: 'The handshake',
  introduction:
    'The first frame of a connection is a `ConnectRequest`, without a header. It asks for a new session, with the session id 0, ' +
    'or resumes a session by its id and password. The server answers with a `ConnectResponse`, again without a header: with the ' +
    'session and the timeout that it grants, or with a timeout of 0 if that session does not exist any more. A server that ' +
    'cannot serve this client, but does not know that the session is over, closes the connection without an answer, and the ' +
    'client tries another server.',
  clauses: [
    {
      number: 1,
      text: 'The answer has the protocol version 0.',
      source: 'ZooKeeperServer.finishSessionInit',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(`version ${intAt(t.received(a.connection), 4)}`)
        },
        expect: ['version 0'],
      },
    },
    {
      number: 2,
      level: 'SHOULD',
      profile: 'full',
      text: 'The server does not examine the protocol version of the client. It answers with its own, 0.',
      source: 'ZooKeeperServer.processConnectRequest, which does not read it',
      follows: ['handshake/1'],
      check: {
        play: async (t) => {
          for (const protocolVersion of [1, -1, 77]) {
            const a = await t.open({ protocolVersion })
            t.see(t.handshake(a), `version ${intAt(t.received(a.connection), 4)}`)
          }
        },
        expect: ['new version 0', 'new version 0', 'new version 0'],
      },
    },
    {
      number: 3,
      text: 'The session id 0 asks for a new session. Its id is not 0, and no other session has it.',
      source: 'ZooKeeperServer.createSession, SessionTrackerImpl.initializeNextSessionId',
      check: {
        play: async (t) => {
          const ids = []
          for (let i = 0; i < 3; i++) ids.push((await t.open()).sessionId)
          t.see(ids.includes(0n) ? 'an id of 0' : `${new Set(ids).size} ids`)
        },
        expect: ['3 ids'],
      },
    },
    {
      number: 4,
      level: 'SHOULD',
      profile: 'full',
      text: 'The password of a request for a new session is ignored, whatever its length, even if it is null.',
      source: 'ZooKeeperServer.createSession',
      follows: ['frames-nobody-sends/6'],
      check: {
        play: async (t) => {
          for (const passwd of [new Uint8Array(5).fill(7), new Uint8Array(0), null]) {
            t.see(t.handshake(await t.open({ session: { sessionId: 0n, passwd } })))
          }
        },
        expect: ['new', 'new', 'new'],
      },
    },
    {
      number: 5,
      text: 'The answer has a password of 16 bytes, which differs from session to session.',
      source: 'ZooKeeperServer.generatePasswd',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          t.see(`${intAt(t.received(a.connection), 20)} bytes`)
          t.see(toHex(a.passwd) === toHex(b.passwd) ? 'the same password' : 'two passwords')
        },
        expect: ['16 bytes', 'two passwords'],
      },
    },
    {
      number: 6,
      text: 'When a session is resumed, the answer has the same password as before.',
      source: 'ZooKeeperServer.generatePasswd, which computes it from the id',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open({ session: a })
          t.see(toHex(a.passwd) === toHex(b.passwd) ? 'the same password' : 'another password')
        },
        expect: ['the same password'],
      },
    },
    {
      number: 7,
      text: 'If the request ends with the byte `readOnly`, so does the answer, which then has 37 bytes.',
      source: 'ServerCnxn.isOldClient, ConnectionHelper (ZOOKEEPER-784)',
      check: {
        play: async (t) => {
          const a = await t.open({ readOnly: false })
          t.see(`${intAt(t.received(a.connection), 0)} bytes`)
        },
        expect: ['37 bytes'],
      },
    },
    {
      number: 8,
      profile: 'full',
      text: 'A client before 3.4 leaves the byte `readOnly` out. It is served, and its answer has 36 bytes.',
      source: 'ServerCnxn.isOldClient, ProtocolManager.deserializeConnectRequest',
      check: {
        play: async (t) => {
          const a = await t.open({ readOnly: undefined })
          t.see(t.handshake(a), `${intAt(t.received(a.connection), 0)} bytes`)
        },
        expect: ['new 36 bytes'],
      },
    },
    {
      number: 9,
      text: 'A server that is not in read-only mode answers `readOnly` false, also to a client that would accept such a server.',
      source: 'ZooKeeperServer.finishSessionInit',
      follows: ['handshake/7'],
      check: {
        play: async (t) => {
          const a = await t.open({ readOnly: true })
          t.see(t.handshake(a), `readOnly ${t.received(a.connection)[40]}`)
        },
        expect: ['new readOnly 0'],
      },
    },
    {
      number: 10,
      text: 'A timeout within the limits of the server is granted as it is.',
      source: 'ZooKeeperServer.processConnectRequest',
      check: {
        play: async (t) => {
          const [least, most] = [
            (await t.open({ timeOut: 1 })).timeOut,
            (await t.open({ timeOut: 2 ** 31 - 1 })).timeOut,
          ]
          for (const part of [2, 3]) {
            const timeOut = least + Math.floor((most - least) / part)
            const granted = (await t.open({ timeOut })).timeOut
            t.see(granted === timeOut ? 'as asked' : `${granted} of ${timeOut}`)
          }
        },
        expect: ['as asked', 'as asked'],
      },
    },
    {
      number: 11,
      text: 'A timeout that is too short, also 0 or a negative one, is raised to the shortest that the server grants.',
      source: 'ZooKeeperServer.processConnectRequest, getMinSessionTimeout',
      check: {
        play: async (t) => {
          const granted = new Set<number>()
          for (const timeOut of [1, 0, -1, -(2 ** 31)]) granted.add((await t.open({ timeOut })).timeOut)
          t.see(granted.size === 1 && !granted.has(1) && !granted.has(0) ? 'the shortest' : [...granted].join(' '))
        },
        expect: ['the shortest'],
      },
    },
    {
      number: 12,
      text: 'A timeout that is too long is lowered to the longest that the server grants.',
      source: 'ZooKeeperServer.processConnectRequest, getMaxSessionTimeout',
      check: {
        play: async (t) => {
          const longest = 2 ** 31 - 1
          const granted = new Set<number>()
          for (const timeOut of [longest, longest - 1]) granted.add((await t.open({ timeOut })).timeOut)
          t.see(granted.size === 1 && !granted.has(longest) && !granted.has(0) ? 'the longest' : [...granted].join(' '))
        },
        expect: ['the longest'],
      },
    },
    {
      number: 13,
      level: 'SHOULD',
      profile: 'full',
      text: 'The shortest timeout is 2 ticks of the server, and the longest 20, unless they are set (`minSessionTimeout`, `maxSessionTimeout`). The tick is 3 s unless it is set, and 2 s in the sample of a configuration.',
      source: 'ZooKeeperServer.getMinSessionTimeout, getMaxSessionTimeout, DEFAULT_TICK_TIME; conf/zoo_sample.cfg',
      check: { unchecked: 'A server does not tell its clients the tick, nor whether the limits are set.' },
    },
    {
      number: 14,
      text: 'A session id that the server does not know is refused: the answer has the timeout 0 and the session id 0.',
      source: 'ZooKeeperServer.finishSessionInit',
      check: {
        play: async (t) => {
          for (const sessionId of [UNKNOWN_SESSION.sessionId, 1n, -1n]) {
            const a = await t.open({ session: { ...UNKNOWN_SESSION, sessionId } })
            t.see(t.handshake(a), `timeOut ${a.timeOut} sessionId ${a.sessionId}`)
          }
        },
        expect: Array.from({ length: 3 }, () => 'refused timeOut 0 sessionId 0'),
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'A refusal has the form of every ConnectResponse. Its password is 16 zero bytes.',
      source: 'ZooKeeperServer.finishSessionInit',
      follows: ['handshake/14', 'handshake/7'],
      check: {
        play: async (t) => {
          const a = await t.open({ session: UNKNOWN_SESSION })
          const answer = t.received(a.connection)
          t.see(`${intAt(answer, 0)} bytes`, toHex(answer.subarray(20, 40)))
        },
        expect: [`37 bytes 00000010${'00'.repeat(16)}`],
      },
    },
    {
      number: 16,
      text: 'After a refusal the server closes the connection.',
      source: 'ZooKeeperServer.finishSessionInit, ServerCnxnFactory.closeConn',
      follows: ['handshake/14'],
      check: {
        play: async (t) => {
          const a = await t.dial()
          await t.within(a.shake(connectFrame(UNKNOWN_SESSION)))
          t.see(await t.fate(a))
        },
        expect: ['closed'],
      },
    },
    {
      number: 17,
      text: 'A session id with a wrong password is refused like an unknown session id.',
      source: 'ZooKeeperServer.reopenSession, checkPasswd',
      follows: ['handshake/14'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const passwd of [a.passwd.map((byte) => byte ^ 1), new Uint8Array(16)]) {
            t.see(await afterPassword(t, a.sessionId, passwd))
          }
        },
        expect: ['refused', 'refused'],
      },
    },
    {
      number: 18,
      text: 'The whole password must be right. A part of it, the password with more bytes after it, an empty one and null are refused.',
      source: 'ZooKeeperServer.checkPasswd, which compares by Arrays.equals',
      follows: ['handshake/17'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const passwd of [a.passwd.slice(0, 8), concat([a.passwd, new Uint8Array(1)]), new Uint8Array(0), null]) {
            t.see(await afterPassword(t, a.sessionId, passwd))
          }
        },
        expect: ['refused', 'refused', 'refused', 'refused'],
      },
    },
    {
      number: 19,
      text: 'A wrong password does not end the session, which can still be resumed with the right one.',
      source: 'ZooKeeperServer.reopenSession',
      follows: ['handshake/17', 'sessions/1', 'ephemeral/4', 'handshake/16'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          await afterPassword(t, a.sessionId, new Uint8Array(16))
          const b = await t.open({ session: a })
          t.see(t.handshake(b, a), t.error(await b.exists('/e')))
        },
        expect: ['resumed Ok'],
      },
    },
    {
      number: 20,
      level: 'MAY',
      profile: 'full',
      text: 'A handshake with a wrong password closes the connection that the session has to this server, because the server does so before it examines the password.',
      source: 'ZooKeeperServer.processConnectRequest, ServerCnxnFactory.closeSession',
      follows: ['handshake/17'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await afterPassword(t, a.sessionId, new Uint8Array(16))
          t.see(await t.fate(a.connection))
        },
        expect: ['closed'],
      },
    },
    {
      number: 21,
      text: 'A server that has not applied the transaction `lastZxidSeen` yet closes the connection without an answer. So a client never goes back in time.',
      source: 'ZooKeeperServer.processConnectRequest (ServerCnxn.DisconnectReason.CLIENT_ZXID_AHEAD)',
      check: {
        play: async (t) => {
          t.see(t.handshake(await t.open({ lastZxidSeen: FUTURE })))
        },
        expect: ['closed'],
      },
    },
    {
      number: 22,
      text: 'A client that has seen the last transaction of the server, and none after it, is served.',
      source: 'ZooKeeperServer.processConnectRequest',
      follows: ['order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const reply = await a.create('/n')
          t.see(t.handshake(await t.open({ lastZxidSeen: reply?.zxid ?? 0n })))
        },
        expect: ['new'],
      },
    },
    {
      number: 23,
      profile: 'full',
      text: 'A connection that is closed for its `lastZxidSeen` does not disturb the session that it asked for, nor the connection that this session has.',
      source: 'ZooKeeperServer.processConnectRequest, which compares the zxid first',
      follows: ['handshake/21'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await t.open({ session: a, lastZxidSeen: FUTURE })
          t.see(t.error(await a.exists('/none')))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 24,
      text: 'The client may send requests before it has the answer. They are executed after the session is established.',
      source: 'ZooKeeperServer.processConnectRequest, ServerCnxn.disableRecv and enableRecv',
      follows: ['sessions/4'],
      check: {
        play: async (t) => {
          const a = await t.dial()
          const answer = a.shake(
            concat([
              connectFrame(),
              requestFrame('exists', { path: '/zookeeper', watch: false }, 1),
              requestFrame('closeSession', undefined, 2),
            ]),
          )
          const replies = Promise.all([
            a.expect({ xid: 1, opCode: OpCode.exists }),
            a.expect({ xid: 2, opCode: OpCode.closeSession }),
          ])
          t.see((await t.within(answer)) && (await answer) !== undefined ? 'established' : 'no answer')
          t.see((await t.within(replies)) ? (await replies).map((reply) => t.error(reply)).join(' ') : 'no reply')
        },
        expect: ['established', 'Ok Ok'],
      },
    },
    {
      number: 25,
      level: 'SHOULD',
      profile: 'full',
      text: 'A new session is a transaction: it uses up a zxid.',
      source: 'PrepRequestProcessor.pRequest2Txn (createSession)',
      follows: ['order/13'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const before = (await a.fence()) ?? 0n
          await t.open()
          t.see(((await a.fence()) ?? 0n) > before ? 'a transaction' : 'no transaction')
        },
        expect: ['a transaction'],
      },
    },
    {
      number: 26,
      level: 'SHOULD',
      profile: 'full',
      text: 'Resuming a session is not a transaction: it uses up no zxid.',
      source: 'ZooKeeperServer.revalidateSession',
      follows: ['sessions/1', 'handshake/25'],
      check: {
        play: async (t) => {
          const a = await t.open()
          let b = await t.open()
          // Other clients may cause transactions at the same time, but hardly ten times.
          for (let attempt = 0; attempt < 10; attempt++) {
            const before = await a.fence()
            b = await t.open({ session: b })
            if ((await a.fence()) === before) return t.see('no transaction')
          }
          t.see('a transaction each time')
        },
        expect: ['no transaction'],
      },
    },
    {
      number: 27,
      profile: 'full',
      needs: ['ensemble', 'control'],
      text: 'A member of an ensemble without a leader accepts connections, and closes them without an answer when the handshake comes.',
      source: 'NIOServerCnxn.readLength, isZKServerRunning',
      check: {
        play: async (t) => {
          const a = await t.open({ at: 'follower' })
          // In this order there is never another leader.
          await t.scenario.stage.kill('other follower')
          await t.scenario.stage.kill('leader')
          await t.fate(a.connection, 20_000)
          t.see(t.handshake(await t.open({ at: 'follower' })))
        },
        expect: ['closed'],
      },
    },
    {
      number: 28,
      level: 'SHOULD',
      profile: 'full',
      text: 'A connection without a handshake is closed after 10 to 20 s (`zookeeper.nio.sessionlessCnxnTimeout`).',
      source: 'NIOServerCnxnFactory.sessionlessCnxnTimeout, cnxnExpiryQueue',
      check: { unchecked: 'It would take up to 20 s.' },
    },
    {
      number: 29,
      level: 'MAY',
      profile: 'full',
      needs: ['ensemble'],
      text: 'The highest byte of a session id is the number (`myid`) of the server that has opened the session.',
      source: 'SessionTrackerImpl.initializeNextSessionId',
      check: {
        play: async (t) => {
          const places = ['leader', 'follower', 'other follower'] as const
          const bytes = new Set<bigint>()
          for (const at of places) bytes.add(BigInt.asUintN(64, (await t.open({ at })).sessionId) >> 56n)
          t.see(`${bytes.size} numbers of servers`)
        },
        expect: ['3 numbers of servers'],
      },
    },
    {
      number: 30,
      level: 'MAY',
      profile: 'full',
      text: 'A server may limit the number of connections of one address (`maxClientCnxns`, by default 60). It closes further ones at once.',
      source: 'NIOServerCnxnFactory.AcceptThread.doAccept, getClientCnxnCount',
      check: { unchecked: 'A check would keep other clients of the same address from connecting.' },
    },
  ],
}

/** What the server answers if this session is resumed with this password. */
async function afterPassword(t: Trial, sessionId: bigint, passwd: Uint8Array | null): Promise<string> {
  return t.handshake(await t.open({ session: { sessionId, passwd } }), { sessionId })
}

import { type ACL, concat, CreateMode, encode, JUTE_MAXBUFFER, OpCode, Perms, ustring, Xid } from '@zk/wire'
import { int32, open, utf8 } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { connectFrame, frame, requestFrame } from './frames.ts'

/** No release has these operations. */
const UNKNOWN_OPCODES = [99, 10, -1, 0, -(2 ** 31)]
/** Reads of a path, each with a flag or not. */
const READS = ['exists', 'getData', 'getChildren', 'getChildren2', 'getACL'] as const

export const framesNobodySends: Chapter = {
  name: 'frames-nobody-sends',
  title: 'Frames that nobody should send',
  introduction:
    'Port scanners, proxies and clients with bugs send them. A server answers what it can understand in part, and closes the ' +
    'connection if it cannot tell where the next frame begins. In either case the session goes on, and so do other clients. ' +
    'Some of these frames stop servers of some releases: a check sends them only if that is allowed.',
  clauses: [
    {
      number: 1,
      profile: 'full',
      text: 'A first frame of another protocol (a request of HTTP, the greeting of TLS) has an impossible length: the server closes the connection.',
      source: 'NIOServerCnxn.readLength, NettyServerCnxn.receiveMessage',
      check: {
        play: async (t) => {
          for (const bytes of [utf8('GET / HTTP/1.0\r\n\r\n'), Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc)]) {
            const a = await t.dial()
            a.write(bytes)
            t.see(await t.fate(a), `${t.received(a).length} bytes`)
          }
        },
        expect: ['closed 0 bytes', 'closed 0 bytes'],
      },
    },
    {
      number: 2,
      profile: 'full',
      text: 'The server closes the connection as soon as it has read a length that is too long, and does not wait for the bytes. This is so before the handshake and after it.',
      source: 'NIOServerCnxn.readLength, NettyServerCnxn.receiveMessage',
      follows: ['framing/7'],
      check: {
        play: async (t) => {
          for (const length of [JUTE_MAXBUFFER + 1, 2 ** 31 - 1]) {
            const a = await t.dial()
            a.write(int32(length))
            const b = await t.open({ pings: false })
            b.connection.write(int32(length))
            t.see(await t.fate(a), await t.fate(b.connection))
          }
        },
        expect: ['closed closed', 'closed closed'],
      },
    },
    {
      number: 3,
      profile: 'full',
      text: 'A negative length closes the connection.',
      source: 'NIOServerCnxn.readLength, NettyServerCnxn.receiveMessage',
      check: {
        play: async (t) => {
          for (const length of [-1, -(2 ** 31)]) {
            const a = await t.dial()
            a.write(int32(length))
            const b = await t.open({ pings: false })
            b.connection.write(int32(length))
            t.see(await t.fate(a), await t.fate(b.connection))
          }
        },
        expect: ['closed closed', 'closed closed'],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: 'An empty frame has no header: the server closes the connection.',
      source: 'ZooKeeperServer.processPacket, NIOServerCnxn.readRequest',
      check: {
        play: async (t) => {
          const a = await t.dial()
          a.write(int32(0))
          const b = await t.open({ pings: false })
          b.connection.write(int32(0))
          t.see(await t.fate(a), await t.fate(b.connection))
        },
        expect: ['closed closed'],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: 'A request whose frame is shorter than its header of 8 bytes closes the connection.',
      source: 'ZooKeeperServer.processPacket, NIOServerCnxn.readRequest',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          a.connection.write(frame(new Uint8Array(7)))
          t.see(await t.fate(a.connection))
        },
        expect: ['closed'],
      },
    },
    {
      number: 6,
      profile: 'full',
      text: 'A request in place of the handshake closes the connection without an answer.',
      source: 'ZooKeeperServer.processConnectRequest',
      check: {
        play: async (t) => {
          for (const whole of [
            requestFrame('getData', { path: '/', watch: false }, 1),
            requestFrame('ping', undefined, Xid.ping),
          ]) {
            const a = await t.dial()
            a.write(whole)
            t.see(await t.fate(a), `${t.received(a).length} bytes`)
          }
        },
        expect: ['closed 0 bytes', 'closed 0 bytes'],
      },
    },
    {
      number: 7,
      profile: 'full',
      text: 'A handshake that ends before its password does closes the connection without an answer.',
      source: 'ZooKeeperServer.processConnectRequest',
      check: {
        play: async (t) => {
          const whole = connectFrame().slice(4)
          for (const length of [1, 16, 27, 43]) {
            const a = await t.dial()
            a.write(frame(whole.slice(0, length)))
            t.see(await t.fate(a), `${t.received(a).length} bytes`)
          }
        },
        expect: ['closed 0 bytes', 'closed 0 bytes', 'closed 0 bytes', 'closed 0 bytes'],
      },
    },
    {
      number: 8,
      profile: 'full',
      text: 'A second handshake on a connection is taken for a request: its first 8 bytes are the xid 0 and the unknown opcode 0.',
      source: 'ZooKeeperServer.processPacket',
      follows: ['frames-nobody-sends/9', 'frames-nobody-sends/10'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const reply = a.connection.expect({ xid: 0, opCode: OpCode.notification })
          a.connection.write(connectFrame())
          t.see((await t.within(reply)) ? t.error(await reply) : 'no answer', await t.fate(a.connection))
        },
        expect: ['Unimplemented closed'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: 'A request with an opcode that the server does not know fails with `Unimplemented`.',
      source: 'ZooKeeperServer.submitRequest (Request.isValid), UnimplementedRequestProcessor',
      check: {
        play: async (t) => {
          for (const opCode of UNKNOWN_OPCODES) {
            const a = await t.open({ pings: false })
            t.see(opCode, t.error(await a.callRaw(opCode, new Uint8Array())))
          }
        },
        expect: UNKNOWN_OPCODES.map((opCode) => `${opCode} Unimplemented`),
      },
    },
    {
      number: 10,
      profile: 'full',
      text: 'After the reply to an unknown opcode the server closes the connection.',
      source: 'UnimplementedRequestProcessor (sendCloseSession)',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          void a.callRaw(99, new Uint8Array())
          t.see(await t.fate(a.connection))
        },
        expect: ['closed'],
      },
    },
    {
      number: 11,
      profile: 'full',
      text: 'The session of a client that has sent an unknown opcode goes on.',
      source: 'UnimplementedRequestProcessor, which closes the connection only',
      follows: ['sessions/1', 'frames-nobody-sends/10'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          void a.callRaw(99, new Uint8Array())
          await t.fate(a.connection)
          const b = await t.open({ session: a })
          t.see(t.handshake(b, a), t.error(await b.exists('/e')))
        },
        expect: ['resumed Ok'],
      },
    },
    {
      number: 12,
      level: 'SHOULD',
      profile: 'full',
      text: 'The reply `Unimplemented` has the zxid -1.',
      source: 'UnimplementedRequestProcessor',
      follows: ['frames-nobody-sends/9'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const reply = await a.callRaw(99, new Uint8Array())
          t.see(`zxid ${reply?.zxid}`)
        },
        expect: ['zxid -1'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: 'A read whose record ends too early fails with `MarshallingError`. The connection stays open.',
      source: 'FinalRequestProcessor.processRequest (catch Exception)',
      follows: ['order/3'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          for (const op of READS) t.see(op, t.error(await a.callRaw(OpCode[op], Uint8Array.of(0, 0))))
          t.see(t.error(await a.ping()))
        },
        expect: [...READS.map((op) => `${op} MarshallingError`), 'Ok'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: 'A read with an impossible length in its record fails with `MarshallingError`: a length beyond the end of the frame, or beyond `jute.maxbuffer`, or below -1.',
      source: 'BinaryInputArchive.checkLength, readString',
      follows: ['frames-nobody-sends/13'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          for (const length of [5, 2 ** 31 - 1, -2]) {
            t.see(length, t.error(await a.callRaw(OpCode.exists, concat([int32(length), Uint8Array.of(0x2f, 0)]))))
          }
        },
        expect: ['5 MarshallingError', '2147483647 MarshallingError', '-2 MarshallingError'],
      },
    },
    {
      number: 15,
      profile: 'full',
      needs: ['hostile'],
      text: 'A write whose record ends too early fails with `MarshallingError`, too. This may stop an ensemble from 3.9.0 on: it executes no more writes until another leader is elected.',
      source: 'PrepRequestProcessor.pRequest (catch Exception); ZOOKEEPER-4575',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          for (const op of ['create', 'delete', 'setData', 'setACL'] as const) {
            const reply = a.callRaw(OpCode[op], Uint8Array.of(0, 0))
            t.see(op, (await t.within(reply)) ? t.error(await reply) : 'no answer')
          }
        },
        expect: ['create', 'delete', 'setData', 'setACL'].map((op) => `${op} MarshallingError`),
      },
    },
    {
      number: 16,
      profile: 'full',
      text: 'A `multi` or a `reconfig` whose record ends too early is never answered, and on some releases nor is any later write of the ensemble.',
      source: 'PrepRequestProcessor.pRequest; MultiOperationRecord.deserialize',
      check: { unchecked: 'It would stop the server.' },
    },
    {
      number: 17,
      level: 'SHOULD',
      profile: 'full',
      text: 'Bytes in a text that are not UTF-8 become U+FFFD, which no path may contain. So a `create` of such a path fails with `BadArguments`.',
      source: 'BinaryInputArchive.readString, PathUtils.validatePath',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
            const path = concat([utf8(a.pathBelow('/x')), Uint8Array.from(bytes)])
            const acl = concat([int32(1), int32(31), encode(ustring, 'world'), encode(ustring, 'anyone')])
            const body = concat([int32(path.length), path, int32(0), acl, int32(0)])
            t.see(t.error(await a.callRaw(OpCode.create, body)))
          }
        },
        expect: ['BadArguments', 'BadArguments', 'BadArguments'],
      },
    },
    {
      number: 18,
      level: 'MAY',
      profile: 'full',
      needs: ['hostile'],
      text: '`createSession`, which servers send each other, is answered in the form of a handshake if a client sends it in its session, with the session that it has.',
      source:
        'PrepRequestProcessor.pRequest2Txn (createSession), FinalRequestProcessor, ZooKeeperServer.finishSessionInit',
      follows: ['framing/12'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const before = t.received(a.connection)
          await t.within(a.callRaw(OpCode.createSession, int32(10_000)))
          const answer = t.received(a.connection).slice(before.length)
          t.see(answer.join() === before.join() ? 'the answer to the handshake, again' : `${answer.length} bytes`)
        },
        expect: ['the answer to the handshake, again'],
      },
    },
    {
      number: 19,
      level: 'SHOULD',
      profile: 'full',
      text: '`closeSession` may have a body, and any xid.',
      source: 'PrepRequestProcessor.pRequest2Txn (closeSession), which reads nothing',
      follows: ['sessions/4', 'sessions/5', 'framing/12', 'order/2'],
      check: {
        play: async (t) => {
          for (const [body, xid] of [
            [int32(7), 5],
            [new Uint8Array(100), 0],
            [new Uint8Array(), -3],
          ] as const) {
            const a = await t.open({ pings: false })
            t.see(t.error(await a.callRaw(OpCode.closeSession, body, { xid })), await t.fate(a.connection))
          }
        },
        expect: ['Ok closed', 'Ok closed', 'Ok closed'],
      },
    },
    {
      number: 20,
      profile: 'full',
      text: 'A client that sends `deleteContainer`, which is for the leader, deletes no container for whose deletion it lacks the permission.',
      source:
        'ZooKeeperServer.processPacket; PrepRequestProcessor.pRequest2Txn (deleteContainer), which calls no checkACL',
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          await a.create('/p', { acl: [{ ...anyone, perms: Perms.ALL & ~Perms.DELETE }] })
          await a.create('/p/c', { op: 'createContainer', flags: CreateMode.CONTAINER })
          const body = encode(ustring, b.pathBelow('/p/c'))
          await t.within(b.callRaw(OpCode.deleteContainer, body))
          t.see(t.error(await a.exists('/p/c')))
          await a.setACL('/p', open)
        },
        expect: ['Ok'],
        differs: [
          {
            since: ['3.9.0'],
            before: '3.9.6',
            what: 'The container is deleted, if it is empty: the request is executed, and no ACL is examined.',
            expect: ['NoNode'],
          },
        ],
      },
    },
    {
      number: 21,
      level: 'SHOULD',
      profile: 'full',
      needs: ['hostile'],
      text: 'The failure of a write whose record ends too early is no transaction. (This may stop an ensemble: see above.)',
      source: 'PrepRequestProcessor.pRequest, which sets the header after it has read the record (ZOOKEEPER-4575)',
      follows: ['frames-nobody-sends/15'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const before = (await a.create('/n'))?.zxid ?? 0n
          const reply = a.callRaw(OpCode.create, Uint8Array.of(0, 0))
          if (!(await t.within(reply))) return t.see('no answer')
          const after = (await reply)?.zxid ?? 0n
          t.see(after > before ? 'a transaction' : 'no transaction')
        },
        expect: ['no transaction'],
        differs: [
          { before: '3.9', what: 'It is one, without effect, like other writes that fail.', expect: ['a transaction'] },
        ],
      },
    },
  ],
}

const [anyone] = open as readonly [ACL]

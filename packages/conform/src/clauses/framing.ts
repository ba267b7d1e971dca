import { concat, encode, ExistsRequest, JUTE_MAXBUFFER, OpCode, ustring } from '@zk/wire'
import { int32, toHex } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { connectFrame, intAt, requestFrame } from './frames.ts'

export const framing: Chapter = {
  name: 'framing',
  title: 'Framing and limits',
  introduction:
    'Client and server send each other frames over one TCP connection. A frame is a length, an int of 4 bytes, and then as ' +
    'many bytes: a record, or a header and a record. The records are those of jute, whose numbers are big-endian. Nothing ' +
    'marks where a frame begins, so a peer that has lost its place can only close the connection.',
  clauses: [
    {
      number: 1,
      text: 'The length at the beginning of a frame counts the bytes that follow it, and not itself.',
      source: 'ZooKeeperServer.finishSessionInit, ServerCnxn.serialize, NIOServerCnxn.readLength',
      check: {
        play: async (t) => {
          const a = await t.dial()
          a.write(connectFrame())
          // Whole if the length is right. Otherwise nothing shows when it is.
          for (let i = 0; i < 100 && !(t.received(a).length >= 4 + intAt(t.received(a), 0)); i++) await t.sleep(20)
          const answer = t.received(a)
          const [length, rest] = [intAt(answer, 0), answer.length - 4]
          t.see(length === rest ? 'the bytes that follow' : `${length}, not ${rest}`)
          a.write(requestFrame('closeSession', undefined, 1))
          await t.fate(a)
        },
        expect: ['the bytes that follow'],
      },
    },
    {
      number: 2,
      text: 'Numbers are big-endian: the most significant byte comes first.',
      source: 'BinaryOutputArchive, which writes to a java.io.DataOutputStream',
      check: {
        play: async (t) => {
          const a = await t.open({ timeOut: 10_000 })
          // The second int of the answer to the handshake is the timeout.
          t.see(toHex(t.received(a.connection).subarray(8, 12)))
        },
        expect: ['00002710'],
      },
    },
    {
      number: 3,
      text: 'A frame may arrive in any number of pieces. The server waits for the rest.',
      source: 'NIOServerCnxn.doIO, NettyServerCnxn.receiveMessage',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const whole = requestFrame('exists', { path: a.pathBelow('/none'), watch: false }, 500)
          const reply = a.connection.expect({ xid: 500, opCode: OpCode.exists })
          for (const [from, to] of [
            [0, 1],
            [1, 4],
            [4, 9],
            [9, whole.length],
          ] as const) {
            a.connection.write(whole.slice(from, to))
            // Otherwise the pieces may leave as one.
            await t.sleep(10)
          }
          t.see((await t.within(reply)) ? t.error(await reply) : 'no answer')
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 4,
      text: 'Several frames may arrive at once. The server answers all of them.',
      source: 'NIOServerCnxn.doIO, NettyServerCnxn.receiveMessage',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const xids = [500, 501, 502]
          const replies = Promise.all(xids.map((xid) => a.connection.expect({ xid, opCode: OpCode.exists })))
          const request = { path: a.pathBelow('/none'), watch: false }
          a.connection.write(concat(xids.map((xid) => requestFrame('exists', request, xid))))
          t.see((await t.within(replies)) ? (await replies).map((reply) => t.error(reply)).join(' ') : 'no answer')
        },
        expect: ['NoNode NoNode NoNode'],
      },
    },
    {
      number: 5,
      text: 'A frame that is not complete yet does not keep the server from answering other clients.',
      source: 'NIOServerCnxn.doIO reads without blocking',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          a.connection.write(int32(1_000))
          const b = await t.open()
          const reply = b.exists('/none')
          t.see((await t.within(reply)) ? t.error(await reply) : 'no answer')
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 6,
      profile: 'full',
      text: 'The longest frame that a server accepts has 1,048,575 bytes after its length, the header of the request included. (The setting is `jute.maxbuffer`.)',
      source: 'BinaryInputArchive.maxBuffer, NIOServerCnxn.readLength',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          t.see(t.error(await a.setData('/a', longestData(a.pathBelow('/a')))))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 7,
      profile: 'full',
      text: 'A frame that is one byte longer is not answered: the server closes the connection.',
      source: 'NIOServerCnxn.readLength, NettyServerCnxn.receiveMessage',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          const data = longestData(a.pathBelow('/a'))
          t.see(t.error(await a.setData('/a', new Uint8Array(data.length + 1))))
        },
        expect: ['closed'],
      },
    },
    {
      number: 8,
      profile: 'full',
      text: 'The session of a connection that was closed for a frame that is too long goes on.',
      source: 'NIOServerCnxn.close, which does not end the session',
      follows: ['framing/7', 'sessions/1'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          a.connection.write(int32(JUTE_MAXBUFFER + 1))
          await t.fate(a.connection)
          t.see(t.handshake(await t.open({ session: a }), a))
        },
        expect: ['resumed'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: 'The limit is for requests. A reply may be longer, such as the list of the children of a node.',
      source: 'ServerCnxn.serialize, which has no limit',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const [count, length] = [210, 5_000]
          const names = Array.from({ length: count }, (_, index) => String(index).padStart(length, 'n'))
          await Promise.all(names.map((name) => a.create(`/${name}`)))
          const reply = await a.getChildren('/')
          const size = a.connection.headers.at(-1)?.size ?? 0
          t.see(t.error(reply), size > JUTE_MAXBUFFER ? 'in a longer frame' : `in a frame of ${size} bytes`)
        },
        expect: ['Ok in a longer frame'],
      },
    },
    {
      number: 10,
      text: 'Text is UTF-8, after its length in bytes.',
      source: 'BinaryInputArchive.readString, BinaryOutputArchive.writeString',
      follows: ['reads/6'],
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.path(await a.create('/é€')))
          t.see(t.children(await a.getChildren('/')))
        },
        expect: ['/é€', '[é€]'],
      },
    },
    {
      number: 11,
      level: 'SHOULD',
      profile: 'full',
      text: 'A boolean is one byte. Any byte but 0 means true.',
      source: 'BinaryInputArchive.readBool, java.io.DataInputStream.readBoolean',
      follows: ['watches/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.callRaw(OpCode.exists, concat([encode(ustring, a.pathBelow('/n')), Uint8Array.of(2)]))
          await a.create('/n')
          for (const event of await t.events(a)) t.see(event)
        },
        expect: ['NodeCreated /n'],
      },
    },
    {
      number: 12,
      level: 'SHOULD',
      profile: 'full',
      text: 'Bytes after the last field of a request are ignored.',
      source:
        'Request.readRequestRecord (ByteBufferInputStream.byteBuffer2Record), which does not look at what is left',
      check: {
        play: async (t) => {
          const a = await t.open()
          const body = encode(ExistsRequest, { path: a.pathBelow('/none'), watch: false })
          t.see(t.error(await a.callRaw(OpCode.exists, concat([body, new Uint8Array(7)]))))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 13,
      text: 'A reply begins with a header of 16 bytes: the xid, the zxid and the error code. A reply with an error ends there.',
      source: 'ReplyHeader, FinalRequestProcessor.processRequest, ServerCnxn.sendResponse',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await a.getData('/none')
          t.see(`${a.connection.headers[0]?.size} bytes`)
        },
        expect: ['16 bytes'],
      },
    },
    {
      number: 14,
      text: 'The replies to `delete`, `ping` and `closeSession` are the header alone.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['order/3', 'sessions/4'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await a.create('/n')
          await a.delete('/n')
          await a.ping()
          await a.call('closeSession', undefined)
          const sizes = a.connection.headers.slice(1).map(({ size }) => size)
          t.see(...sizes)
        },
        expect: ['16 16 16'],
      },
    },
    {
      number: 15,
      level: 'MAY',
      profile: 'extended',
      text: 'A server may limit the bytes of all large requests that it is working on (`zookeeper.largeRequestThreshold`, `zookeeper.largeRequestMaxBytes`). It closes the connection of a client that sends one more.',
      source: 'ZooKeeperServer.checkRequestSizeWhenReceivingMessage (ZOOKEEPER-3503)',
      since: '3.6',
      check: { unchecked: 'It needs a server with these settings, which are off by default.' },
    },
  ],
}

/** Data with which a setData of this path has the longest frame that is accepted. */
function longestData(path: string): Uint8Array {
  const [header, length, version] = [8, 4, 4]
  return new Uint8Array(JUTE_MAXBUFFER - header - length - path.length - length - version)
}

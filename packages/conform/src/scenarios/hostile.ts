import {
  concat,
  CreateMode,
  CreateRequest,
  encode,
  encodeMessage,
  OpCode,
  operations,
  type RequestMessage,
  Xid,
} from '@zk/wire'
import { int32, open, utf8 } from '../play/index.ts'
import { unreadableWrites } from '../releases/index.ts'
import { group } from './group.ts'

const JUTE_MAXBUFFER = 0xfffff

// Not tried, because they block the session and the leader of a real 3.8.0: a truncated multi and a truncated reconfig.
export const hostileFrames = group('hostile frames', {
  'an impossible length closes the connection, before the handshake and after it': async (s) => {
    for (const length of [-1, -(2 ** 31), JUTE_MAXBUFFER + 1, 2 ** 31 - 1, 0]) {
      s.note(`a length of ${length}`)
      const raw = await s.dial()
      raw.write(int32(length))
      await raw.closed
      const a = await s.open({ pings: false })
      a.connection.write(int32(length))
      await a.connection.closed
      await s.settle()
    }
  },

  'the longest frame is served, a longer one is not': async (s) => {
    const a = await s.open()
    await a.create('/a')
    const size = (path: string, data: number): number => 8 + 4 + path.length + 4 + data + 4
    const spare = JUTE_MAXBUFFER - size(a.pathBelow('/a'), 0)
    await a.setData('/a', new Uint8Array(spare))
    await a.exists('/a')
    await a.setData('/a', new Uint8Array(spare + 1))
    await a.connection.closed
  },

  'text in place of a handshake closes the connection': async (s) => {
    for (const text of [
      'GET / HTTP/1.0\r\n\r\n',
      'abcd',
      'RUOK',
      'ruo\n',
      '\n\n\n\n',
      '\u0000\u0000\u0000\u0004quit',
    ]) {
      const raw = await s.dial()
      raw.write(utf8(text))
      await raw.closed
    }
  },

  'a request in place of a handshake closes the connection': async (s) => {
    for (const op of ['getData', 'exists', 'getChildren'] as const) {
      const raw = await s.dial()
      const { opCode } = operations[op]
      const request = { path: '/', watch: false }
      raw.write(encodeMessage({ type: 'request', op, opCode, xid: 1, request } as RequestMessage))
      await raw.closed
    }
    const ping = await s.dial()
    ping.write(encodeMessage({ type: 'request', op: 'ping', opCode: OpCode.ping, xid: Xid.ping, request: undefined }))
    await ping.closed
  },

  'a truncated handshake closes the connection': async (s) => {
    const whole = encodeMessage({ type: 'connect', request: { ...connect, readOnly: false } }).slice(4)
    for (const length of [1, 4, 12, 16, 24, 28, 40, 43]) {
      const raw = await s.dial()
      raw.write(frame(whole.slice(0, length)))
      await raw.closed
    }
  },

  'a second handshake is an unknown request': async (s) => {
    const a = await s.open()
    void a.connection.expect({ xid: 0, opCode: 0 }, ['a second handshake'])
    a.connection.write(encodeMessage({ type: 'connect', request: { ...connect, readOnly: false } }))
    await a.connection.closed
  },

  'an unknown opcode is answered with Unimplemented, and closes the connection': async (s) => {
    for (const opCode of [-1, 10, 99, 108, -(2 ** 31), OpCode.notification]) {
      const a = await s.open({ at: opCode % 2 === 0 ? 'leader' : 'follower' })
      await a.create('/e', { flags: 1 })
      await a.callRaw(opCode, new Uint8Array())
      await a.connection.closed
      const again = await s.open({ session: a })
      await again.exists('/e')
      await again.close()
      await s.settle()
    }
  },

  'a truncated body is a MarshallingError, and the session goes on': {
    halts: unreadableWrites,
    play: async (s) => {
      for (const at of ['leader', 'follower'] as const) {
        const a = await s.open({ at })
        await a.create('/a')
        for (const opCode of [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 17, 18, 19, 101]) {
          for (const body of [new Uint8Array(), int32(5), int32(2 ** 31 - 1), int32(-2), Uint8Array.of(0, 0)]) {
            await a.callRaw(opCode, body)
          }
        }
        await a.exists('/a')
        await a.close()
        await s.settle()
      }
    },
  },

  'a body may have more bytes behind it': async (s) => {
    const a = await s.open()
    const request = { path: a.pathBelow('/a'), data: null, acl: open, flags: 0 }
    await a.callRaw(OpCode.create, concat([encode(CreateRequest, request), new Uint8Array(7)]))
    await a.callRaw(OpCode.ping, new Uint8Array(3), { xid: Xid.ping })
    await a.exists('/a')
    await a.close()
  },

  'impossible lengths within a record': {
    halts: unreadableWrites,
    play: async (s) => {
      const a = await s.open()
      const path = (text: string): Uint8Array => concat([int32(text.length), utf8(text)])
      const here = path(a.pathBelow('/a'))
      const bodies = [
        // path, data, count of the ACL, flags
        // (One below -1 is an empty ACL to Java, and unreadable to @zk/wire.)
        [here, int32(0), int32(2 ** 31 - 1), int32(0)],
        [here, int32(0), int32(1000), int32(0)],
        [here, int32(-2), int32(0), int32(0)],
        [here, int32(2 ** 31 - 1), int32(0), int32(0)],
        [int32(-2), int32(0), int32(0), int32(0)],
        [int32(0x200000), int32(0), int32(0), int32(0)],
      ]
      for (const body of bodies) await a.callRaw(OpCode.create, concat(body))
      await a.exists('/a')
      await a.close()
    },
  },

  'invalid UTF-8 is decoded with replacements': async (s) => {
    const a = await s.open()
    const root = utf8(a.pathBelow('/'))
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98, 0x80], [0xc0, 0x80]]) {
      const path = concat([root, utf8('/x'), Uint8Array.from(bytes)])
      await a.callRaw(OpCode.create, createBody(path))
    }
    await a.getChildren('/')
    await a.close()
  },

  'a truncated auth closes the connection': async (s) => {
    for (const body of [new Uint8Array(), int32(0), concat([int32(0), int32(-2)])]) {
      const a = await s.open()
      await a.callRaw(OpCode.auth, body, { xid: Xid.auth })
      await a.connection.closed
    }
  },

  'deleteContainer is not for clients': {
    halts: unreadableWrites,
    play: async (s) => {
      const a = await s.open()
      await a.create('/container', { op: 'createContainer', flags: CreateMode.CONTAINER })
      await a.create('/plain')
      for (const path of ['/container', '/plain', '/none', '', 'x']) {
        await a.callRaw(OpCode.deleteContainer, utf8(a.pathBelow(path)))
      }
      await a.getChildren('/')
      await a.close()
    },
  },

  'reconfig is not enabled': async (s) => {
    const a = await s.open()
    const request = { joiningServers: null, leavingServers: null, newMembers: null, curConfigId: -1n }
    await a.call('reconfig', request)
    await a.close()
  },

  'an incomplete frame does not block other clients': async (s) => {
    const a = await s.open({ pings: false })
    a.connection.write(int32(1000))
    const b = await s.open()
    await b.create('/a')
    await b.close()
    await a.drop()
    const again = await s.open({ session: a })
    await again.close()
  },
})

const connect = {
  protocolVersion: 0,
  lastZxidSeen: 0n,
  timeOut: 5_000,
  sessionId: 0n,
  passwd: new Uint8Array(16),
}

/** Bytes after a length, which may differ from their number. */
function frame(body: Uint8Array, length = body.length): Uint8Array {
  return concat([int32(length), body])
}

/** A CreateRequest with exactly these bytes as its path. */
function createBody(path: Uint8Array): Uint8Array {
  const rest = encode(CreateRequest, { path: null, data: null, acl: open, flags: 0 }).slice(4)
  return concat([int32(path.length), path, rest])
}

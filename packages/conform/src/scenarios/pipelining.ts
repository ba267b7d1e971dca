import { concat, CreateMode, encodeMessage, operations } from '@zk/wire'
import { places } from '../play/index.ts'
import { group } from './group.ts'

export const pipelining = group('pipelining', {
  'requests of a session are answered in order, at any server': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      const path = `/${at}`
      const calls = [a.create(path)]
      for (let i = 0; i < 3; i++) {
        calls.push(a.setData(path, `${i}`), a.getData(path), a.setData(path, '', i), a.exists(`${path}/none`))
        calls.push(a.create(`${path}/s`, { flags: CreateMode.PERSISTENT_SEQUENTIAL }), a.getChildren2(path))
      }
      await Promise.all(calls)
      await a.close()
      await s.settle()
    }
  },

  'more requests than a server reads at once are all answered': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      await a.create(`/${at}`)
      await Promise.all(
        Array.from({ length: 3_000 }, (_, i) => (i % 300 === 0 ? a.setData(`/${at}`) : a.exists('/none'))),
      )
      await a.close()
      await s.settle()
    }
  },

  'a ping waits for the writes before it': async (s) => {
    for (const at of places) {
      const a = await s.open({ at, pings: false })
      const path = `/${at}`
      await Promise.all([a.create(path), a.ping(), a.getData(path), a.ping(), a.setData(path), a.ping(), a.ping()])
      await a.close()
      await s.settle()
    }
  },

  'sync keeps its place among reads and writes': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      const path = `/${at}`
      await Promise.all([
        a.sync(path),
        a.create(path),
        a.sync(path),
        a.getData(path),
        a.sync(path),
        a.delete(path),
        a.sync(path),
        a.exists(path),
      ])
      await a.close()
      await s.settle()
    }
  },

  'changes that depend on each other may be sent together': async (s) => {
    const a = await s.open({ at: 'follower' })
    await Promise.all([
      a.create('/p'),
      a.create('/p/c'),
      a.delete('/p'),
      a.delete('/p/c'),
      a.delete('/p/c'),
      a.create('/p/e', { flags: CreateMode.EPHEMERAL }),
      a.create('/p/e/x'),
      a.setData('/p', 'x', 0),
      a.setData('/p', 'y', 0),
      a.create('/p/d'),
      a.create('/p/d'),
      a.getChildren2('/p'),
      a.delete('/p/d'),
      a.delete('/p/e'),
      a.delete('/p', 1),
      a.exists('/p'),
    ])
    await a.close()
  },

  'requests sent behind the handshake wait for it': async (s) => {
    const a = await s.dial()
    const connect = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 5_000, sessionId: 0n, passwd: new Uint8Array(16) }
    const { opCode } = operations.exists
    const request = { path: '/zookeeper/none', watch: false }
    const answer = a.shake(
      concat([
        encodeMessage({ type: 'connect', request: { ...connect, readOnly: false } }),
        encodeMessage({ type: 'request', op: 'exists', opCode, xid: 1, request }),
        encodeMessage({ type: 'request', op: 'closeSession', opCode: -11, xid: 2, request: undefined }),
      ]),
    )
    void a.expect({ xid: 1, opCode }, ['exists'])
    void a.expect({ xid: 2, opCode: -11 }, ['closeSession'])
    await answer
    await a.closed
  },

  'frames may come byte by byte, and many at once': async (s) => {
    const a = await s.open()
    const { opCode } = operations.create
    const request = { path: a.pathBelow('/a'), data: null, acl: [], flags: 0 }
    const frame = encodeMessage({ type: 'request', op: 'create', opCode, xid: 500, request })
    const reply = a.connection.expect({ xid: 500, opCode }, ['create'])
    for (const byte of frame) {
      a.connection.write(Uint8Array.of(byte))
      await s.sleep(1)
    }
    await reply
    await a.close()
  },

  'the client may choose any xids': async (s) => {
    const a = await s.open()
    for (const xid of [0, 5, 5, -3, -7, 2 ** 31 - 1, -(2 ** 31)]) {
      await a.call('exists', { path: '/none', watch: false }, { xid })
      await a.call('create', { path: '/none/x', data: null, acl: [], flags: 0 }, { xid })
    }
    await a.close()
  },
})

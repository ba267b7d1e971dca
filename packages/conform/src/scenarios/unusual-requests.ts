// Requests that servers make among themselves, and others that no client sends, from a client that has a session.
import { concat, CreateMode, OpCode, Xid } from '@zk/wire'
import { int32, places, type Session } from '../play/index.ts'
import { unreadableWrites } from '../releases/index.ts'
import { group } from './group.ts'

const { EPHEMERAL } = CreateMode

export const unusualRequests = group('unusual requests', {
  'createSession in a session is answered like a handshake, and is a transaction': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      await a.create('/e', { flags: EPHEMERAL })
      for (const body of [int32(10_000), int32(40_000), int32(2 ** 31 - 1), concat([int32(5_000), int32(7)])]) {
        await a.callRaw(OpCode.createSession, body)
      }
      await a.getData('/e')
      await a.close()
      await s.settle()
    }
  },

  'a session whose createSession has a short timeout ends after that, if it sends nothing more': async (s) => {
    const b = await s.open()
    for (const timeOut of [1, 0, 600]) {
      const a = await s.open({ timeOut: 10_000, pings: false })
      await a.create('/e', { flags: EPHEMERAL })
      await a.callRaw(OpCode.createSession, int32(timeOut))
      await a.connection.closed
      await b.exists('/e')
      await s.settle()
    }
    await b.close()
  },

  'createSession under an xid that is none': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      for (const xid of [0, Xid.notification, Xid.ping, Xid.auth, Xid.setWatches]) {
        await a.callRaw(OpCode.createSession, int32(10_000), { xid })
      }
      await a.exists('/')
      await a.close()
      await s.settle()
    }
  },

  'createSession of a client before 3.4 is answered without readOnly': async (s) => {
    const a = await s.open({ readOnly: undefined })
    await a.callRaw(OpCode.createSession, int32(10_000))
    await a.close()
  },

  'createSession without a timeout is a marshalling error': {
    halts: unreadableWrites,
    play: async (s) => {
      for (const at of places) {
        const a = await s.open({ at })
        for (const body of [new Uint8Array(), Uint8Array.of(0, 0, 7)]) await a.callRaw(OpCode.createSession, body)
        await a.create('/a')
        await a.delete('/a')
        await a.close()
        await s.settle()
      }
    },
  },

  'createSession keeps its place among the requests of its session': {
    halts: unreadableWrites,
    play: async (s) => {
      for (const at of places) {
        const a = await s.open({ at })
        await Promise.all([
          a.create('/a'),
          a.callRaw(OpCode.createSession, int32(10_000)),
          a.getData('/a'),
          a.sync(),
          a.callRaw(OpCode.createSession, int32(20_000)),
          a.callRaw(OpCode.createSession, new Uint8Array()),
          a.delete('/a'),
          a.exists('/a'),
        ])
        await a.close()
        await s.settle()
      }
    },
  },

  'createSession makes a session that has moved that of the old connection again': async (s) => {
    const a = await s.open({ at: 'follower' })
    await a.create('/e', { flags: EPHEMERAL })
    const b = await s.open({ at: 'leader', session: a, pings: false })
    await b.setData('/e', 'moved')
    await s.settle()
    await a.callRaw(OpCode.createSession, int32(10_000))
    await a.setData('/e', 'back')
    await s.settle()
    await b.setData('/e', 'never')
    await b.connection.closed
    await a.close()
  },

  'cons shows createSession, and counts it as a request that is never answered': {
    halts: unreadableWrites,
    play: async (s) => {
      const a = await s.open({ pings: false })
      const note = async (): Promise<void> => {
        const [line = ''] = (await s.ask('leader', 'cons')).split('\n').filter((each) => each.includes('sid='))
        s.note(
          /queued=\d+,recved=\d+/.exec(line)?.[0] ?? line,
          /lop=\w+/.exec(line)?.[0] ?? '',
          /lcxid=\w+/.exec(line)?.[0] ?? '',
        )
      }
      await note()
      await a.callRaw(OpCode.createSession, int32(10_000))
      await note()
      await a.exists('/')
      await note()
      // Before 3.6 an xid of 0 is counted too.
      await a.callRaw(OpCode.createSession, int32(10_000), { xid: -3 })
      await note()
      await a.callRaw(OpCode.createSession, new Uint8Array())
      await note()
      await a.callRaw(OpCode.createSession, int32(10_000))
      await note()
      await a.close()
    },
  },

  'closeSession with a body, and under an xid that is none': async (s) => {
    for (const at of places) {
      await end(await s.open({ at }), int32(7), 5)
      await end(await s.open({ at }), new Uint8Array(100), 5)
      for (const xid of [0, -3, Xid.auth]) await end(await s.open({ at }), new Uint8Array(), xid)
      await s.settle()
    }
  },
})

async function end(session: Session, body: Uint8Array, xid: number): Promise<void> {
  await session.create('/e', { flags: EPHEMERAL })
  session.stopPings()
  await session.callRaw(OpCode.closeSession, body, { xid })
  await session.connection.closed
}

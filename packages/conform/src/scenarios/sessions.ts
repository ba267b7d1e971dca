import { CreateMode, OpCode } from '@zk/wire'
import { open, places } from '../play/index.ts'
import { group } from './group.ts'

const { EPHEMERAL } = CreateMode

export const sessions = group('sessions', {
  'the timeout is limited to two ticks and maxSessionTimeout': async (s) => {
    for (const timeOut of [0, -1, 1, 999, 1000, 1001, 5_000, 19_999, 20_000, 20_001, 2 ** 31 - 1, -(2 ** 31)]) {
      const a = await s.open({ timeOut, at: timeOut % 2 === 0 ? 'leader' : 'follower' })
      await a.close()
    }
  },

  'a session goes on with its password, on the same server and on others': async (s) => {
    let a = await s.open({ timeOut: 4_000 })
    await a.create('/e', { flags: EPHEMERAL })
    for (const at of [...places, 'leader'] as const) {
      await a.drop()
      a = await s.open({ at, session: a, timeOut: 4_000 })
      await a.sync()
      await a.exists('/e')
      await a.setData('/e', at)
    }
    await a.close()
    const late = await s.open({ session: a })
    s.note(late.isOpen ? 'resumed' : 'ended')
  },

  'a session cannot be resumed without its password': async (s) => {
    const a = await s.open()
    await a.create('/e', { flags: EPHEMERAL })
    const { sessionId } = a
    const wrong = Uint8Array.from(a.passwd, (byte) => byte ^ 1)
    for (const passwd of [wrong, new Uint8Array(16), new Uint8Array(), a.passwd.slice(0, 8), new Uint8Array(64)]) {
      for (const at of places) await s.open({ at, session: { sessionId, passwd } })
    }
    await s.settle()
    await a.exists('/e')
    await a.close()
  },

  'an unknown session has expired': async (s) => {
    for (const sessionId of [1n, -1n, 0x1234_5678_9abc_def0n, 0x7fff_ffff_ffff_ffffn]) {
      for (const at of places) await s.open({ at, session: { sessionId, passwd: new Uint8Array(16) } })
    }
  },

  'a session id of 0 requests a new one, whatever the password': async (s) => {
    const a = await s.open({ session: { sessionId: 0n, passwd: new Uint8Array(5).fill(7) } })
    await a.create('/e', { flags: EPHEMERAL, op: 'create2' })
    await a.close()
  },

  'a session that is resumed elsewhere has the timeout of that handshake': async (s) => {
    const a = await s.open({ timeOut: 8_000 })
    await a.drop()
    const b = await s.open({ session: a, timeOut: 3_000, at: 'follower' })
    await b.drop()
    const c = await s.open({ session: b, timeOut: 60_000 })
    await c.close()
  },

  'resuming on the same server closes the older connection': async (s) => {
    for (const at of ['leader', 'follower'] as const) {
      const a = await s.open({ at })
      await a.create('/e', { flags: EPHEMERAL })
      const b = await s.open({ at, session: a })
      await a.connection.closed
      await b.exists('/e')
      await b.close()
      await s.settle()
    }
  },

  'resuming on another server moves the session: reads go on at the old connection, a write ends it': async (s) => {
    for (const [from, to] of [
      ['leader', 'follower'],
      ['follower', 'leader'],
      ['follower', 'other follower'],
    ] as const) {
      const a = await s.open({ at: from })
      await a.create('/e', { flags: EPHEMERAL })
      const b = await s.open({ at: to, session: a, pings: false })
      await b.sync()
      await b.setData('/e', 'moved')
      await s.settle()
      await a.ping()
      await a.getData('/e')
      s.note('sync and write at the old connection')
      await a.sync()
      await a.setData('/e', 'never')
      await a.connection.closed
      await s.settle()
      await b.getData('/e')
      await b.close()
      await s.settle()
    }
  },

  'closeSession on the old connection of a moved session': {
    needs: ['ensemble'],
    play: async (s) => {
      const a = await s.open({ at: 'follower' })
      await a.create('/e', { flags: EPHEMERAL })
      const b = await s.open({ session: a, at: 'leader', pings: false })
      await a.close()
      await b.connection.closed
      await b.exists('/e')
      await b.close()
    },
  },

  'multi on the old connection of a moved session': async (s) => {
    const a = await s.open({ at: 'follower' })
    await a.create('/a')
    const b = await s.open({ session: a, at: 'leader', pings: false })
    await b.setData('/a', 'moved')
    await a.multi({ type: 13, request: { path: '/a', version: 0 } })
    await a.fence()
    await b.close()
    await a.connection.closed
  },

  'closeSession is answered, removes ephemeral nodes and closes the connection': async (s) => {
    for (const at of places) {
      const a = await s.open({ at })
      const b = await s.open()
      await a.create('/p')
      await a.create('/p/e', { flags: EPHEMERAL })
      await s.settle()
      await b.getChildren('/p', true)
      await a.close()
      await s.settle()
      await b.getChildren2('/p')
      await b.delete('/p')
      await b.close()
      await s.settle()
    }
  },

  'requests behind closeSession are not executed': async (s) => {
    const a = await s.open()
    const done = Promise.all([a.create('/a'), a.call('closeSession', undefined)])
    // Whether these are answered is a matter of chance.
    const request = { path: a.pathBelow('/b'), data: null, acl: open, flags: 0 }
    void a.connection.call({ type: 'request', op: 'create', opCode: OpCode.create, xid: 100, request })
    await done
    await a.connection.closed
    const b = await s.open()
    await b.getChildren('/')
    await b.close()
  },

  'a server that is behind what the client has seen does not answer': async (s) => {
    for (const at of places) {
      const a = await s.open({ at, lastZxidSeen: 1n << 62n })
      s.note(a.isOpen ? 'established' : 'closed')
    }
    const b = await s.open({ lastZxidSeen: -1n })
    await b.close()
    const c = await s.open()
    await c.create('/a')
    const d = await s.open({ lastZxidSeen: c.lastZxid })
    await d.close()
    const e = await s.open({ lastZxidSeen: c.lastZxid, session: c, at: 'leader' })
    await e.close()
  },

  'the handshake has a version and the field readOnly': async (s) => {
    for (const protocolVersion of [1, -1, 77]) {
      const a = await s.open({ protocolVersion })
      await a.close()
    }
    const b = await s.open({ readOnly: true })
    await b.close()
    const c = await s.open({ readOnly: undefined })
    await c.create('/a')
    await c.close()
    await s.open({ readOnly: undefined, session: c })
  },
})

export const expiry = group('expiry', {
  'a session that is silent expires, and its ephemeral nodes with it': async (s) => {
    for (const at of ['leader', 'follower'] as const) {
      const b = await s.open()
      // This session keeps the server busy: an idle 3.8.0 server may overlook a commit. ZOOKEEPER-4537
      const c = await s.open({ at })
      const a = await s.open({ at, timeOut: 2_000, pings: false })
      await a.create('/e', { flags: EPHEMERAL })
      await s.settle()
      await b.exists('/e', true)
      await b.getChildren('/', true)
      await a.connection.closed
      await b.connection.heardEvents(2)
      await b.getChildren2('/')
      await b.close()
      await c.close()
      await s.open({ at, session: a })
      await s.settle()
    }
  },

  'a session is kept by pings and by reads, at any server': async (s) => {
    const sessions = []
    for (const at of places) {
      const a = await s.open({ at, timeOut: 4_000 })
      await a.create(`/${at}`, { flags: EPHEMERAL })
      sessions.push(a)
    }
    const reader = await s.open({ at: 'follower', timeOut: 4_000, pings: false })
    // Longer than their timeout and the tick to which it is rounded.
    for (let i = 0; i < 24; i++) {
      await reader.exists('/none')
      await s.sleep(250)
    }
    for (const a of sessions) await a.sync()
    for (const [i, at] of places.entries()) await sessions[i]?.exists(`/${at}`)
    for (const a of [...sessions, reader]) await a.close()
  },

  'a session that is resumed in time does not expire': async (s) => {
    const a = await s.open({ timeOut: 4_000 })
    await a.create('/e', { flags: EPHEMERAL })
    await a.drop()
    await s.sleep(1_000)
    const b = await s.open({ at: 'follower', session: a, timeOut: 4_000 })
    await s.sleep(5_000)
    await b.sync()
    await b.exists('/e')
    await b.close()
  },

  'a connection that is dropped ends the session only after its timeout': async (s) => {
    const b = await s.open({ at: 'follower' })
    const a = await s.open({ timeOut: 2_000 })
    await a.create('/e', { flags: EPHEMERAL })
    await s.settle()
    await b.exists('/e', true)
    const { runtime } = s.stage
    const before = runtime.now()
    await a.exists('/e')
    await a.drop()
    await b.connection.heardEvents(1)
    s.note(runtime.now() - before < 2_000 ? 'too early' : 'in time')
    await b.exists('/e')
    await b.close()
  },
})

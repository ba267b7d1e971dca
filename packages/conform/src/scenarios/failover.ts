import { CreateMode } from '@zk/wire'
import { byCodeUnit, utf8 } from '../play/index.ts'
import { group } from './group.ts'

const { EPHEMERAL, PERSISTENT_SEQUENTIAL } = CreateMode

export const failover = group('failover', {
  'sessions outlive their leader, with their nodes and counters': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/q')
    await a.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await b.create('/q/n', { flags: CreateMode.EPHEMERAL_SEQUENTIAL })
    await a.create('/e', { flags: EPHEMERAL })
    await s.settle()
    await s.stage.kill('leader')
    await Promise.all([a.connection.closed, b.connection.closed])
    await s.stage.elected()
    const a2 = await s.resume(a, { at: 'other follower' })
    const b2 = await s.resume(b, { at: 'follower' })
    await a2.setData('/e', 'after')
    await b2.create('/q/n', { flags: EPHEMERAL })
    await b2.create('/q/n', { flags: PERSISTENT_SEQUENTIAL })
    await s.settle()
    await a2.getChildren2('/q')
    await b2.getData('/e')
    await a2.close()
    await s.settle()
    await b2.exists('/e')
    await b2.close()
  },

  'a session goes on elsewhere when its follower dies': async (s) => {
    const a = await s.open({ at: 'follower' })
    const b = await s.open({ at: 'other follower' })
    await a.create('/e', { flags: EPHEMERAL })
    await a.create('/w')
    await a.getData('/w', true)
    await s.stage.kill('follower')
    await a.connection.closed
    await b.setData('/w', 'missed')
    const again = await s.resume(a, { at: 'other follower' })
    await again.setWatches({ dataWatches: ['/w'], childWatches: ['/'] }, a.lastZxid)
    await again.getData('/e')
    await again.close()
    await s.settle()
    await b.exists('/e')
    await b.close()
  },

  'a member that was down has what it missed': async (s) => {
    const a = await s.open()
    await a.create('/a', { data: '1' })
    await s.stage.kill('follower')
    await a.setData('/a', '2')
    await a.create('/b')
    await a.delete('/b')
    await a.create('/c')
    await s.stage.restart('follower')
    await s.ready('follower')
    const b = await s.open({ at: 'follower' })
    await b.sync()
    for (const path of ['/a', '/b', '/c', '/']) await b.getData(path)
    await a.close()
    await b.close()
  },

  'watches at the other members end with the leader too': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await s.settle()
    await b.getData('/a', true)
    await s.stage.kill('leader')
    await b.connection.closed
    await s.stage.elected()
    const a2 = await s.resume(a, { at: 'other follower' })
    await a2.setData('/a', 'while away')
    const b2 = await s.resume(b, { at: 'follower' })
    await s.settle()
    await b2.setWatches({ dataWatches: ['/a'] }, b.lastZxid)
    await b2.getData('/a', true)
    await a2.setData('/a', 'again')
    await s.settle()
    await a2.close()
    await b2.close()
  },

  'a new leader begins its epoch before its first transaction': async (s) => {
    const modes: [string, bigint | undefined][] = []
    const a = await s.open({ at: 'follower' })
    await a.create('/a')
    await s.settle()
    await s.stage.kill('leader')
    await a.connection.closed
    await s.stage.elected()
    for (const at of ['follower', 'other follower'] as const) {
      const again = await s.resume(a, { at, pings: false })
      const mode = /^Mode: (.*)$/m.exec(await s.ask(at, 'srvr'))?.[1] ?? ''
      const reply = await again.connection.call({
        type: 'request',
        op: 'ping',
        opCode: 11,
        xid: -2,
        request: undefined,
      })
      modes.push([mode, reply?.zxid])
      await again.drop()
    }
    // Either of the two may lead now.
    for (const [mode, value] of modes.toSorted(([one], [other]) => byCodeUnit(one, other)))
      s.note(mode, { field: 'zxid', value })
    const b = await s.resume(a, { at: 'follower' })
    await b.create('/b')
    await b.getData('/a')
    await b.close()
  },

  'a leader that hangs is replaced, and its sessions go on': async (s) => {
    const a = await s.open({ pings: false })
    const b = await s.open({ at: 'follower' })
    await a.create('/e', { flags: EPHEMERAL })
    await s.settle()
    await s.stage.freeze('leader')
    await b.connection.closed
    await s.stage.elected()
    const b2 = await s.resume(b, { at: 'follower' })
    const a2 = await s.resume(a, { at: 'other follower' })
    // Otherwise it is a matter of chance whether this one learns of the end, too.
    await a.drop()
    await a2.setData('/e', 'after')
    await s.settle()
    await b2.exists('/e')
    await s.stage.thaw('leader')
    await a2.close()
    await b2.close()
  },

  'without a quorum no client is served': async (s) => {
    const a = await s.open({ at: 'follower' })
    await a.create('/a')
    // In this order there is never another quorum.
    await s.stage.kill('other follower')
    await s.stage.kill('leader')
    await a.connection.closed
    const raw = await s.dial('follower')
    raw.write(utf8('srvr'))
    await raw.closed
    for (const word of ['ruok', 'isro', 'stat', 'mntr', 'cons', 'wchs']) {
      s.note(word, { value: await s.ask('follower', word) })
    }
    const refused = await s.open({ at: 'follower', session: a })
    s.note(refused.isOpen ? 'served' : 'refused')
    await s.stage.mended()
    const again = await s.resume(a, { at: 'follower' })
    await again.setData('/a', 'again')
    await again.getData('/a')
    await again.close()
  },
})

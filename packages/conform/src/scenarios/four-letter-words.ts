import { OpCode, WatcherType } from '@zk/wire'
import { parseCons, places, type Scenario, type Session, utf8 } from '../play/index.ts'
import { group } from './group.ts'

export const fourLetterWords = group('four-letter words', {
  'ruok and isro': async (s) => {
    for (const at of places) {
      for (const word of ['ruok', 'isro']) s.note(at, word, { value: await s.ask(at, word) })
    }
  },

  'srvr and stat': async (s) => {
    await s.open()
    await s.open({ at: 'follower' })
    for (const at of places) {
      await ask(s, at, 'srvr')
      await ask(s, at, 'stat')
    }
  },

  'cons lists every connection, with and without a session': async (s) => {
    const a = await s.open({ timeOut: 7_000, pings: false })
    const raw = await s.dial()
    // With the connection that sends `cons` there are three of them.
    while (parseCons(await s.ask('leader', 'cons')).length < 3) await s.sleep(10)
    await ask(s, 'leader', 'cons')
    await a.create('/a')
    await ask(s, 'leader', 'cons')
    await a.getData('/none')
    await ask(s, 'leader', 'cons')
    await a.ping()
    await ask(s, 'leader', 'cons')
    await a.multi()
    await ask(s, 'leader', 'cons')
    s.note('what is refused')
    await a.create('/a')
    await ask(s, 'leader', 'cons')
    await a.multi({ type: OpCode.delete, request: { path: '/none', version: -1 } })
    await ask(s, 'leader', 'cons')
    await a.callCut('getData', { path: '/a', watch: false }, 5)
    await ask(s, 'leader', 'cons')
    await a.close()
    raw.hangUp()
  },

  'conf lists the settings, envi the environment': async (s) => {
    const at = 'follower'
    // Their values differ between machines.
    for (const line of (await s.ask(at, 'conf')).split('\n')) s.note(at, line.replace(/=.*/, '='))
    // Where the JVM looks for native code says nothing of ZooKeeper.
    s.note(at, (await s.ask(at, 'envi')).replaceAll(/=.*/g, '').replaceAll(/^java\.l.*\n/gm, ''))
  },

  'wchs counts connections, paths and watches': async (s) => {
    const a = await s.open()
    const b = await s.open()
    const count = async (): Promise<void> => s.note('wchs', { value: await s.ask('leader', 'wchs') })
    await count()
    await a.exists('/a', true)
    await count()
    await b.exists('/a', true)
    await b.exists('/b', true)
    await b.getChildren('/', true)
    await count()
    await a.create('/a')
    await count()
    await b.removeWatches('/b', WatcherType.Data)
    await count()
    await a.close()
    await b.close()
  },

  'wchc and wchp list watches by session and by path, dump the ephemeral nodes by session': async (s) => {
    const [a, b, c] = await everywhere(s)
    await a.create('/e', { flags: 1 })
    await b.create('/g', { flags: 1 })
    await s.settle()
    await a.exists('/e', true)
    await a.exists('/none', true)
    await b.getData('/e', true)
    await b.getChildren('/', true)
    const open = [a, b, c].map(({ sessionId }) => `0x${sessionId.toString(16)}`)
    const isOfOther = (line: string) => {
      const session = /^\tip: .* sessionId: (0x[0-9a-f]+)$/.exec(line)?.[1]
      return session !== undefined && !open.includes(session)
    }
    for (const at of places) {
      for (const word of ['wchc', 'wchp', 'dump']) {
        // The set that contains a session or a connection depends on the clock, and empty sets stay for a while. While it moves to
        // another set, it may be in neither (ExpiryQueue.dump is not atomic).
        // A closed connection may stay for a while (NIOServerCnxnFactory.touchCnxn behind its removal): the one that sent the word,
        // which has no session, or one of an earlier session.
        const isUpToChance = (line: string) =>
          word === 'dump' && (/^(\d+ expire at .*:|\t0x[0-9a-f]+)$/.test(line) || isOfOther(line))
        const lines = (await s.ask(at, word)).split('\n').filter((line) => !isUpToChance(line))
        const notified = lines.map((line) => masked(line.replace(s.root, '')).replace(/^(\tip: ).*CLIENT/, '$1CLIENT'))
        s.note(`${at}: ${word}`, notified.sort().join(' | '))
      }
    }
    for (const each of [a, b, c]) await each.close()
  },

  'crst and srst reset the counters': async (s) => {
    const a = await s.open({ pings: false })
    await a.create('/a')
    s.note('crst', { value: await s.ask('leader', 'crst') })
    await ask(s, 'leader', 'cons')
    for (const line of (await s.ask('leader', 'cons')).split('\n')) {
      // No request was sent since, and the values are those of a connection that has just been reset. The exception are sent
      // packets: a server may count one after the client has received it (NIOServerCnxn.handleWrite).
      const notified = /queued=\d+,(recved=\d+),.*(lop=\w+).*(to=\d+,lzxid=\w+)/.exec(line)
      if (notified !== null) s.note('cons', ...notified.slice(1))
    }
    s.note('srst', { value: await s.ask('leader', 'srst') })
    await ask(s, 'leader', 'srvr')
    s.note('gtmk', { value: await s.ask('leader', 'gtmk') })
    s.note('dirs', masked(await s.ask('leader', 'dirs')))
    await a.close()
  },

  'mntr counts the watches of all sessions': async (s) => {
    const [a, b, c] = await everywhere(s)
    await a.create('/e', { flags: 1 })
    await a.exists('/e', true)
    await a.getChildren('/', true)
    await s.settle()
    for (const at of places) {
      const answer = await s.ask(at, 'mntr')
      for (const key of monitored) {
        const value = new RegExp(`^zk_${key}\\t(.*)$`, 'm').exec(answer)?.[1]
        s.note(at, key, value === undefined ? 'is left out' : masked(value))
      }
      for (const key of counted) {
        s.note(at, key, new RegExp(`^zk_${key}\\t(.*)$`, 'm').exec(answer)?.[1] ?? 'is left out')
      }
    }
    for (const each of [a, b, c]) await each.close()
  },

  'a word may come with a line feed, in parts, and with more bytes behind it': async (s) => {
    for (const parts of [['ruok\n'], ['r', 'u', 'o', 'k'], ['ruokruok'], ['isro\r\nmore']]) {
      const raw = await s.dial()
      for (const part of parts) {
        raw.write(utf8(part))
        await s.sleep(10)
      }
      await raw.closed
    }
  },

  'a word after a handshake is not recognized': async (s) => {
    const a = await s.open({ pings: false })
    a.connection.write(utf8('ruok'))
    await a.connection.closed
  },
})

const monitored = [
  'version',
  'server_state',
  'peer_state',
  'avg_latency',
  'min_latency',
  'max_latency',
  'packets_received',
  'packets_sent',
  'outstanding_requests',
  'znode_count',
  'approximate_data_size',
  'uptime',
  'learners',
  'synced_followers',
  'followers',
]

/** These are compared as they are. */
const counted = ['num_alive_connections', 'watch_count', 'ephemerals_count', 'global_sessions', 'local_sessions']

/** A session at each server, so that `settle` waits for all: some words report what a server itself has applied. */
async function everywhere(s: Scenario): Promise<[Session, Session, Session]> {
  return [await s.open(), await s.open({ at: 'follower' }), await s.open({ at: 'other follower' })]
}

async function ask(s: Scenario, at: (typeof places)[number], word: string): Promise<void> {
  const lines = (await s.ask(at, word)).split('\n')
  // Clients are listed in no order.
  const clients = lines.filter((line) => line.startsWith(' /')).map(masked)
  const others = lines.filter((line) => !line.startsWith(' /')).map(masked)
  s.note(`${at}: ${word}`, others.join(' | '), clients.sort().join(' '))
}

/** Without the numbers: latencies, ports, counters and ids. */
function masked(line: string): string {
  return line
    .replace(/^(Zookeeper version: ).*/, '$1V')
    .replace(/^\d+\.\d+\.\d+-.*built on.*/, 'V')
    .replace(/\d+\.\d+\.\d+\.\d+:\d+/g, 'CLIENT')
    .replace(/0x[0-9a-f]+/g, '0xN')
    .replace(/-?\d+(\.\d+)?(E-?\d+)?/g, 'N')
}

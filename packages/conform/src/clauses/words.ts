import { utf8 } from '../play/index.ts'
import type { Chapter } from './clause.ts'

const profile = 'extended'
/** The values of `mntr` that exporters read. */
const monitored = [
  'version',
  'server_state',
  'avg_latency',
  'packets_received',
  'packets_sent',
  'num_alive_connections',
  'outstanding_requests',
  'znode_count',
  'watch_count',
  'ephemerals_count',
  'approximate_data_size',
]

export const words: Chapter = {
  name: 'words',
  title: 'Four-letter words',
  introduction:
    'Probes, exporters and some clients send four letters in place of the handshake, on the port of the clients. The server ' +
    'answers with text, and closes the connection. As a length, four letters would be far beyond any limit, so a word cannot ' +
    'be confused with a frame. Only `srvr` is answered by default; the others must be listed in `4lw.commands.whitelist`. ' +
    'These clauses are about what clients and probes rely on, not about the whole of each text.',
  clauses: [
    {
      number: 1,
      profile: 'full',
      text: 'A word is answered with text that is not a frame, and then the server closes the connection.',
      source: 'NIOServerCnxn.checkFourLetterWord, NettyServerCnxn.checkFourLetterWord',
      check: {
        play: async (t) => {
          const a = await t.dial()
          a.write(utf8('srvr'))
          const fate = await t.fate(a)
          const first = t.received(a)[0] ?? 0
          t.see(first >= 0x20 && first < 0x7f ? 'text' : `${t.received(a).length} bytes`, fate)
        },
        expect: ['text closed'],
      },
    },
    {
      number: 2,
      profile: 'full',
      text: 'A word may arrive in pieces, and with more bytes after it, such as the line feed of a terminal.',
      source: 'NIOServerCnxn.readLength',
      follows: ['words/1', 'framing/3'],
      check: {
        play: async (t) => {
          for (const parts of [['srvr\n'], ['s', 'rv', 'r']]) {
            const a = await t.dial()
            for (const part of parts) {
              a.write(utf8(part))
              // Otherwise the pieces may leave as one.
              await t.sleep(10)
            }
            await t.fate(a)
            t.see(t.received(a).length > 0 ? 'an answer' : 'nothing')
          }
        },
        expect: ['an answer', 'an answer'],
      },
    },
    {
      number: 3,
      profile: 'full',
      text: 'A word after a handshake is the length of a frame that is too long: the server closes the connection.',
      source: 'NIOServerCnxn.readLength (initialized)',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const before = t.received(a.connection).length
          a.connection.write(utf8('srvr'))
          t.see(await t.fate(a.connection), `${t.received(a.connection).length - before} bytes`)
        },
        expect: ['closed 0 bytes'],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: 'Four letters that are no word close the connection without an answer. Upper case is not the same.',
      source: 'FourLetterCommands.isKnown, NIOServerCnxn.readLength',
      follows: ['frames-nobody-sends/1'],
      check: {
        play: async (t) => {
          for (const text of ['abcd', 'SRVR', 'srv\n']) {
            const a = await t.dial()
            a.write(utf8(text))
            t.see(await t.fate(a), `${t.received(a).length} bytes`)
          }
        },
        expect: ['closed 0 bytes', 'closed 0 bytes', 'closed 0 bytes'],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: 'A word that is not in `4lw.commands.whitelist` is answered with `… is not executed because it is not in the whitelist.` and a line feed.',
      source: 'FourLetterCommands.isEnabled, NopCommand (ZOOKEEPER-2693)',
      check: { unchecked: 'Which words are allowed is a setting that a check cannot know.' },
    },
    {
      number: 6,
      profile: 'full',
      text: 'The first line of the answer to `srvr` is `Zookeeper version: ` and the version, such as `3.9.5-…, built on …`.',
      source: 'StatCommand, Version.getFullVersion',
      check: {
        play: async (t) => {
          const [line = ''] = (await t.scenario.ask('leader', 'srvr')).split('\n')
          t.see(/^Zookeeper version: \d+\.\d+\.\d+.*, built on /.test(line) ? 'a version' : line)
        },
        expect: ['a version'],
      },
    },
    {
      number: 7,
      profile: 'full',
      text: '`srvr` has a line `Mode: ` with `leader`, `follower`, `observer`, `standalone` or `read-only`.',
      source: 'StatCommand, ZooKeeperServer.getState',
      check: {
        play: async (t) => {
          const mode = /^Mode: (.*)$/m.exec(await t.scenario.ask('leader', 'srvr'))?.[1]
          t.see(mode === 'leader' || mode === 'standalone' ? 'leader or standalone' : (mode ?? 'no mode'))
        },
        expect: ['leader or standalone'],
      },
    },
    {
      number: 8,
      profile: 'full',
      needs: ['ensemble'],
      text: 'One member of an ensemble answers `Mode: leader`, and the others that serve answer `Mode: follower`.',
      source: 'Leader, Follower, ServerStats.getServerState',
      follows: ['words/7'],
      check: {
        play: async (t) => {
          for (const at of ['leader', 'follower', 'other follower'] as const) {
            t.see(/^Mode: (.*)$/m.exec(await t.scenario.ask(at, 'srvr'))?.[1] ?? 'no mode')
          }
        },
        expect: ['leader', 'follower', 'follower'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: '`srvr` has a line `Zxid: 0x` and the zxid of the last transaction that the server has applied, in hexadecimal.',
      source: 'StatCommand, ServerStats.toString',
      follows: ['order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const zxid = (await a.create('/n'))?.zxid ?? 0n
          const text = /^Zxid: (0x[0-9a-f]+)$/m.exec(await t.scenario.ask('leader', 'srvr'))?.[1]
          t.see(text !== undefined && BigInt(text) >= zxid ? 'at least that of the last write' : (text ?? 'no zxid'))
        },
        expect: ['at least that of the last write'],
      },
    },
    {
      number: 10,
      level: 'SHOULD',
      profile: 'full',
      text: 'The other lines of `srvr` are `Latency min/avg/max: `, `Received: `, `Sent: `, `Connections: `, `Outstanding: ` and `Node count: `, with numbers. The Go client reads them all.',
      source: 'StatCommand, ServerStats.toString',
      check: {
        play: async (t) => {
          const text = await t.scenario.ask('leader', 'srvr')
          for (const name of ['Received', 'Sent', 'Connections', 'Outstanding', 'Node count']) {
            t.see(new RegExp(`^${name}: \\d+$`, 'm').test(text) ? name : `no ${name}`)
          }
          t.see(/^Latency min\/avg\/max: \d+\/[\d.]+\/\d+$/m.test(text) ? 'Latency' : 'no Latency')
        },
        expect: ['Received', 'Sent', 'Connections', 'Outstanding', 'Node count', 'Latency'],
      },
    },
    {
      number: 11,
      profile,
      text: '`ruok` is answered with `imok`, without a line feed.',
      source: 'RuokCommand',
      check: {
        play: async (t) => t.see(JSON.stringify(await t.scenario.ask('leader', 'ruok'))),
        expect: ['"imok"'],
        allowed: [notAllowed('ruok')],
      },
    },
    {
      number: 12,
      profile,
      text: '`isro` is answered with `rw` by a server that accepts writes, without a line feed.',
      source: 'IsroCommand',
      check: {
        play: async (t) => t.see(JSON.stringify(await t.scenario.ask('leader', 'isro'))),
        expect: ['"rw"'],
        allowed: [notAllowed('isro')],
      },
    },
    {
      number: 13,
      profile,
      text: '`mntr` has a line for each value: its name, which begins with `zk_`, a tab, and the value. These names are there: `zk_version`, `zk_server_state`, `zk_avg_latency`, `zk_packets_received`, `zk_packets_sent`, `zk_num_alive_connections`, `zk_outstanding_requests`, `zk_znode_count`, `zk_watch_count`, `zk_ephemerals_count` and `zk_approximate_data_size`.',
      source: 'MonitorCommand, ZooKeeperServer.dumpMonitorValues',
      check: {
        play: async (t) => {
          const text = await t.scenario.ask('leader', 'mntr')
          if (text.includes('whitelist')) return t.see(JSON.stringify(text))
          for (const name of monitored) {
            t.see(new RegExp(`^zk_${name}\\t.+$`, 'm').test(text) ? name : `no ${name}`)
          }
        },
        expect: monitored,
        allowed: [notAllowed('mntr')],
      },
    },
    {
      number: 14,
      profile,
      text: '`cons` lists the connections, one a line: the address of the client, and in brackets what is known of it, with the session in hexadecimal (`sid=0x…`) and its timeout (`to=`).',
      source: 'ConsCommand, ServerCnxn.dumpConnectionInfo',
      check: {
        play: async (t) => {
          const a = await t.open()
          const text = await t.scenario.ask('leader', 'cons')
          if (text.includes('whitelist')) return t.see(JSON.stringify(text))
          const id = BigInt.asUintN(64, a.sessionId).toString(16)
          const line = text.split('\n').find((each) => each.includes(`,sid=0x${id},`)) ?? ''
          t.see(/^ \/\S+:\d+\[\d\]\(queued=\d+,recved=\d+,sent=\d+,/.test(line) ? 'the connection' : line)
          const timeOut = /,to=(\d+),/.exec(line)?.[1]
          t.see(timeOut === String(a.timeOut) ? 'its timeout' : `${timeOut} of ${a.timeOut}`)
        },
        expect: ['the connection', 'its timeout'],
        allowed: [notAllowed('cons')],
      },
    },
    {
      number: 15,
      profile,
      text: '`envi` has a line `zookeeper.version=` with the version, which kazoo reads.',
      source: 'EnvCommand, Environment.list',
      check: {
        play: async (t) => {
          const text = await t.scenario.ask('leader', 'envi')
          if (text.includes('whitelist')) return t.see(JSON.stringify(text))
          t.see(/^zookeeper\.version=\d+\.\d+\.\d+/m.test(text) ? 'a version' : 'no version')
        },
        expect: ['a version'],
        allowed: [notAllowed('envi')],
      },
    },
    {
      number: 16,
      profile,
      text: '`stat` has the lines of `srvr`, and before them the connections, after a line `Clients:`.',
      source: 'StatCommand',
      check: {
        play: async (t) => {
          const text = await t.scenario.ask('leader', 'stat')
          if (text.includes('whitelist')) return t.see(JSON.stringify(text))
          t.see(/^Clients:$/m.test(text) ? 'Clients' : 'no Clients', /^Mode: \w+/m.test(text) ? 'Mode' : 'no Mode')
        },
        expect: ['Clients Mode'],
        allowed: [notAllowed('stat')],
      },
    },
    {
      number: 17,
      profile: 'full',
      needs: ['ensemble', 'control'],
      text: 'A member without a leader answers `srvr` and most other words with `This ZooKeeper instance is not currently serving requests` and a line feed.',
      source: 'AbstractFourLetterCommand.ZK_NOT_SERVING',
      check: {
        play: async (t) => {
          const a = await t.open({ at: 'follower' })
          // In this order there is never another leader.
          await t.scenario.stage.kill('other follower')
          await t.scenario.stage.kill('leader')
          await t.fate(a.connection, 20_000)
          t.see(JSON.stringify(await t.scenario.ask('follower', 'srvr')))
        },
        expect: ['"This ZooKeeper instance is not currently serving requests\\n"'],
      },
    },
    {
      number: 18,
      profile,
      needs: ['ensemble', 'control'],
      text: 'A member without a leader still answers `ruok` with `imok`, and `isro` with `null`.',
      source: 'RuokCommand, IsroCommand',
      follows: ['words/11', 'words/12'],
      check: {
        play: async (t) => {
          const a = await t.open({ at: 'follower' })
          await t.scenario.stage.kill('other follower')
          await t.scenario.stage.kill('leader')
          await t.fate(a.connection, 20_000)
          t.see(await t.scenario.ask('follower', 'ruok'), await t.scenario.ask('follower', 'isro'))
        },
        expect: ['imok null'],
      },
    },
  ],
}

/** What is seen if a word is not allowed by the settings of the server. */
function notAllowed(word: string): readonly string[] {
  return [JSON.stringify(`${word} is not executed because it is not in the whitelist.\n`)]
}

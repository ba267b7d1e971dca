import { expect, test } from 'vitest'
import { Bench, EPOCH, node } from '../support/bench.ts'

function ask(bench: Bench, word: string, member?: string) {
  const client = bench.dial(member)!
  client.raw(new TextEncoder().encode(word))
  expect(client.closed).toBe('end')
  return client.text
}

/** `Fri Jan 02 03:04:05 UTC 1970` */
function javaDate(ms: number): string {
  const [day = '', date, month, year, time] = new Date(ms).toUTCString().split(' ')
  return `${day.slice(0, 3)} ${month} ${date} ${time} UTC ${year}`
}

function busy(): Bench {
  const bench = new Bench()
  const client = bench.connect()
  client.ask('create', node('/a', 1))
  client.ask('exists', { path: '/a', watch: true })
  client.ask('getChildren', { path: '/a', watch: true })
  bench.pass(3)
  client.ask('ping', undefined, -2)
  return bench
}

test('srvr', () => {
  expect(ask(busy(), 'srvr')).toBe(
    [
      'Zookeeper version: 3.9.6-zktesting, built on 2022-02-25 08:49 UTC',
      'Latency min/avg/max: 0/0.0/0',
      'Received: 6',
      'Sent: 5',
      'Connections: 2',
      'Outstanding: 0',
      'Zxid: 0x2',
      'Mode: standalone',
      'Node count: 6',
      '',
    ].join('\n'),
  )
})

test('stat lists the clients too', () => {
  expect(ask(busy(), 'stat').split('\n').slice(1, 5)).toEqual([
    'Clients:',
    ' /127.0.0.1:50000[1](queued=0,recved=5,sent=5)',
    ' /127.0.0.1:50000[0](queued=0,recved=1,sent=0)',
    '',
  ])
})

test('cons shows more about each', () => {
  const bench = busy()
  const { id } = bench.model.sessions.list()[0]!
  expect(ask(bench, 'cons')).toBe(
    [
      ` /127.0.0.1:50000[1](queued=0,recved=5,sent=5,sid=0x${id.toString(16)},lop=PING,est=${EPOCH},to=4000,` +
        'lcxid=0x3,lzxid=0x2,lresp=3,llat=0,minlat=0,avglat=0,maxlat=0)',
      ' /127.0.0.1:50000[0](queued=0,recved=1,sent=0)',
      '',
      '',
    ].join('\n'),
  )
})

test('mntr', () => {
  const values = ask(busy(), 'mntr').trimEnd().split('\n')
  const notified = Object.fromEntries(values.map((line) => line.split('\t') as [string, string]))
  expect(notified).toMatchObject({
    zk_version: '3.9.6-zktesting, built on 2022-02-25 08:49 UTC',
    zk_server_state: 'standalone',
    zk_avg_latency: '0.0',
    zk_num_alive_connections: '2',
    zk_znode_count: '6',
    zk_watch_count: '2',
    zk_ephemerals_count: '1',
    zk_global_sessions: '1',
    zk_outstanding_requests: '0',
    zk_uptime: '3',
  })
})

test('envi shows the version in the form that clients expect, and NA for values that only Java has', () => {
  const lines = ask(new Bench(), 'envi').split('\n')
  expect(lines.slice(0, 4)).toEqual([
    'Environment:',
    'zookeeper.version=3.9.6-zktesting, built on 2022-02-25 08:49 UTC',
    'host.name=zk1',
    'java.version=<NA>',
  ])
  expect(lines.slice(-2)).toEqual(['os.memory.total=<NA>', ''])
})

test('dump of a leader shows when sessions expire', () => {
  const bench = busy()
  const { id } = bench.model.sessions.list()[0]!
  const session = `0x${id.toString(16)}`
  // A tick is 2 s, the session 4 s; connections expire at whole tens of seconds.
  expect(ask(bench, 'dump')).toBe(
    [
      'SessionTracker dump:',
      'Session Sets (1)/(1):',
      `1 expire at ${javaDate(EPOCH + 6_000)}:`,
      `\t${session}`,
      'ephemeral nodes dump:',
      'Sessions with Ephemerals (1):',
      `${session}:`,
      '\t/a',
      'Connections dump:',
      'Connections Sets (2)/(2):',
      `1 expire at ${javaDate(EPOCH + 10_000)}:`,
      `\tip: /127.0.0.1:50000 sessionId: ${session}`,
      `1 expire at ${javaDate(EPOCH + 20_000)}:`,
      '\tip: /127.0.0.1:50000 sessionId: 0x0',
      '',
    ].join('\n'),
  )
})

test('crst and srst reset the counters', () => {
  const bench = busy()
  expect(ask(bench, 'crst')).toBe('Connection stats reset.\n')
  expect(ask(bench, 'cons').split('\n')[0]).toMatch(
    /queued=0,recved=0,sent=0,.*lop=NA,.*to=4000,lzxid=0xffffffffffffffff,lresp=0,/,
  )
  expect(ask(bench, 'srvr')).toMatch(/Received: 8\nSent: 7/)
  expect(ask(bench, 'srst')).toBe('Server stats reset.\n')
  expect(ask(bench, 'srvr')).toMatch(/Received: 1\nSent: 1/)
})

test('conf', () => {
  expect(ask(new Bench({ members: 1, tickTime: 100, maxClientCnxns: 7 }), 'conf')).toBe(
    [
      'clientPort=2181',
      'secureClientPort=-1',
      'dataDir=<NA>',
      'dataDirSize=0',
      'dataLogDir=<NA>',
      'dataLogSize=0',
      'tickTime=100',
      'maxClientCnxns=7',
      'minSessionTimeout=200',
      'maxSessionTimeout=2000',
      'clientPortListenBacklog=-1',
      'serverId=0',
      '',
    ].join('\n'),
  )
  const bench = new Bench({ members: 2, initLimit: 6, syncLimit: 3 })
  expect(ask(bench, 'conf', 'zk2').split('\n').slice(11)).toEqual([
    'serverId=2',
    'initLimit=6',
    'syncLimit=3',
    'electionAlg=3',
    'electionPort=3888',
    'quorumPort=2888',
    'peerType=0',
    'membership: ',
    'server.1=zk1:2888:3888:participant',
    'server.2=zk2:2888:3888:participant',
    'version=0',
  ])
})

test('zk_uptime counts from the last start of the member', () => {
  const bench = new Bench({ members: 1 })
  const uptime = () => Number(/zk_uptime\t(\d+)/.exec(ask(bench, 'mntr'))![1])
  bench.pass(60_000)
  expect(uptime()).toBe(60_000)
  bench.model.member('zk1').kill()
  bench.pass(1_000)
  bench.model.member('zk1').restart()
  bench.pass(20_000)
  expect(uptime()).toBeLessThanOrEqual(20_000)
})

test('while it looks for a leader, a member accepts connections and serves no client', () => {
  const bench = new Bench({ members: 3 })
  bench.model.member('zk2').kill()
  bench.model.member('zk3').kill()
  bench.pass(20_000)
  const words = ['ruok', 'isro', 'srvr', 'stat', 'cons', 'wchs', 'wchc', 'wchp', 'dump', 'mntr', 'conf', 'crst', 'srst']
  const notServing = 'This ZooKeeper instance is not currently serving requests\n'
  expect(words.map((word) => ask(bench, word, 'zk1'))).toEqual([
    'imok',
    'null',
    ...words.slice(2).map(() => notServing),
  ])
})

test('a word outside the whitelist is refused, in ZooKeeper’s words, also by a member that does not serve', () => {
  const bench = new Bench({ members: 3, fourLetterWords: ['ruok', 'mntr'] })
  const refusal = (word: string) => `${word} is not executed because it is not in the whitelist.\n`
  expect(ask(bench, 'ruok')).toBe('imok')
  expect(ask(bench, 'srvr')).toContain('Mode: ')
  for (const word of ['stat', 'isro', 'envi', 'crst']) expect(ask(bench, word)).toBe(refusal(word))
  for (const { name } of bench.model.members.slice(1)) bench.model.member(name).kill()
  bench.pass(20_000)
  expect(bench.model.members[0]!.role).toBe('looking')
  expect(ask(bench, 'srvr')).toBe('This ZooKeeper instance is not currently serving requests\n')
  expect(ask(bench, 'stat')).toBe(refusal('stat'))
})

test('a word outside the whitelist has no effect', () => {
  const bench = new Bench({ members: 1, fourLetterWords: ['mntr'] })
  bench.connect().ask('ping', undefined, -2)
  const received = () => Number(/packets_received\t(\d+)/.exec(ask(bench, 'mntr'))![1])
  const before = received()
  ask(bench, 'srst')
  expect(received()).toBe(before + 2)
})

test('a word that this server does not implement is refused like one outside the whitelist', () => {
  expect(ask(new Bench(), 'hash')).toBe('hash is not executed because it is not in the whitelist.\n')
})

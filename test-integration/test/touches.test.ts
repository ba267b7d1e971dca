// Which packets keep a session alive: verifies docs/touches.md, which cites the source, at a leader and at a follower.
import type { ZooKeeper } from '@zk/client'
import { CreateMode, errorName, OpCode } from '@zk/wire'
import { expect, onTestFinished, test } from 'vitest'
import type { EnsembleNode } from '../src/ensemble/index.ts'
import { Connection, type CreateOptions, Session, Transcript } from '@zk/conform/internal'
import { newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

/** Timeout of the sessions, in ms: six ticks. */
const TIMEOUT = 3_000
/** How often a session sends its packet, in ms. */
const INTERVAL = 300

type Code = string | undefined
interface Packet {
  readonly name: string
  readonly send: (session: Session) => Promise<Code>
  /** The reply; undefined for none. */
  readonly answer: Code
}

const touching: readonly Packet[] = [
  { name: 'ping', send: (session) => codeOf(session.ping()), answer: 'Ok' },
  { name: 'sync', send: (session) => codeOf(session.sync()), answer: 'Ok' },
  { name: 'a read', send: (session) => codeOf(session.getChildren('/')), answer: 'Ok' },
  { name: 'a write', send: (session) => codeOf(session.setData('/')), answer: 'Ok' },
  {
    name: 'a multi',
    send: (session) => codeOf(session.multi({ type: OpCode.check, request: { path: '/', version: -1 } })),
    answer: 'Ok',
  },
  { name: 'a read that fails', send: (session) => codeOf(session.getData('/missing')), answer: 'NoNode' },
  { name: 'a write that fails', send: (session) => codeOf(session.delete('/missing')), answer: 'NoNode' },
  { name: 'an invalid path', send: (session) => codeOf(session.create('none')), answer: 'BadArguments' },
  { name: 'setWatches', send: (session) => codeOf(session.setWatches({})), answer: 'Ok' },
  {
    name: 'removeWatches without a watch',
    send: (session) => codeOf(session.removeWatches('/', 2)),
    answer: 'NoWatcher',
  },
]

const nothing: Packet = { name: 'nothing', send: () => Promise.resolve(undefined), answer: undefined }

const silent: readonly Packet[] = [
  nothing,
  { name: 'auth', send: (session) => codeOf(session.auth('digest', 'some:one')), answer: 'Ok' },
  // Servers without SASL configuration answer with a null token.
  { name: 'sasl', send: (session) => codeOf(session.call('sasl', { token: new Uint8Array() })), answer: 'Ok' },
]

describeEnsemble('the touch of a session', (ensemble) => {
  const places = {
    leader: () => ensemble.leader(),
    follower: async () => (await ensemble.followers())[0]!,
  }

  test.each(['leader', 'follower'] as const)(
    'ZooKeeperServer.touch at a %s is done for all packets but auth and sasl, which are answered as well',
    async (place) => {
      const server = await places[place]()
      const zk = await newClient(ensemble)
      const kept = await Promise.all(touching.map((packet) => keptBy(packet, server, zk)))
      // Twice: a kept session has lived for more than two timeouts then, however fast clocks run.
      const left = []
      for (let times = 0; times < 2; times++) {
        const sessions = await Promise.all(silent.map((packet) => keptBy(packet, server, zk)))
        left.push(...sessions)
        await Promise.all(sessions.map(({ expired }) => expired))
      }
      expect(kept.filter(({ isGone }) => isGone()).map(({ name }) => name)).toEqual([])
      for (const { answers, expected } of [...kept, ...left]) expect([...answers]).toEqual(expected)
    },
  )

  test.each(['leader', 'follower'] as const)(
    'ZooKeeperServer.reopenSession at a %s keeps a session alive that sends only handshakes',
    async (place) => {
      const server = await places[place]()
      const zk = await newClient(ensemble)
      const kept = await keptBy(nothing, server, zk)
      let { session } = kept
      const again = repeat(async () => {
        if (kept.isGone()) return
        session = await open(server, zk, { session })
      })
      for (let times = 0; times < 2; times++) await (await keptBy(nothing, server, zk)).expired
      expect(kept.isGone()).toBe(false)
      again.stop()
      await kept.expired
    },
  )

  test.each(['leader', 'follower'] as const)(
    'ExpiryQueue.update at a %s brings the end of a session forward when its handshake has a shorter timeout',
    async (place) => {
      const server = await places[place]()
      const zk = await newClient(ensemble)
      const longest = 20 * ensemble.description.tickTime
      const [long, shortened] = await Promise.all([
        keptBy(nothing, server, zk, longest),
        keptBy(nothing, server, zk, longest),
      ])
      expect(long.session.timeOut).toBe(longest)
      const resumed = await open(server, zk, { session: shortened.session })
      expect(resumed.timeOut).toBe(TIMEOUT)
      const pings = repeat(async () => void (await resumed.ping()))
      // Wait until no follower keeps a touch of the creation or of the first connection: these would restore the long timeout.
      await (
        await keptBy(nothing, server, zk)
      ).expired
      pings.stop()
      await long.session.ping()
      await shortened.expired
      expect(long.isGone()).toBe(false)
    },
  )
})

interface Kept {
  readonly name: string
  readonly session: Session
  /** When its node is deleted, as another session is notified. */
  readonly expired: Promise<unknown>
  readonly isGone: () => boolean
  readonly answers: ReadonlySet<Code>
  readonly expected: readonly Code[]
}

/** A session with an ephemeral node that sends only this packet. */
async function keptBy(packet: Packet, server: EnsembleNode, zk: ZooKeeper, timeOut = TIMEOUT): Promise<Kept> {
  const session = await open(server, zk, { timeOut })
  const { path } = await zk.create(`/of ${packet.name} `, '', { mode: 'PERSISTENT_SEQUENTIAL' })
  const options: CreateOptions = { flags: CreateMode.EPHEMERAL }
  expect(await codeOf(session.create(`${path}/node`, options))).toBe('Ok')
  await zk.sync('/')
  const { stat, changed } = await zk.existsAndWatch(`${path}/node`)
  expect(stat?.ephemeralOwner).toBe(session.sessionId)
  let isGone = false
  const expired = changed.then(() => (isGone = true))
  const answers = new Set<Code>()
  repeat(async () => {
    const code = await packet.send(session)
    if (code !== undefined) answers.add(code)
  })
  const { name, answer } = packet
  const expected = answer === undefined ? [] : [answer]
  return { name, session, expired, isGone: () => isGone, answers, expected }
}

interface OpenOptions {
  readonly timeOut?: number
  readonly session?: Session
}

async function open(
  server: EnsembleNode,
  zk: ZooKeeper,
  { timeOut = TIMEOUT, session }: OpenOptions,
): Promise<Session> {
  const connection = await Connection.open(server, '', new Transcript())
  const resumed = session === undefined ? {} : { session, lastZxidSeen: session.lastZxid }
  const opened = await Session.open(connection, zk.chroot, { timeOut, pings: false, ...resumed })
  expect(opened.timeOut).toBeGreaterThan(0)
  onTestFinished(() => connection.hangUp())
  return opened
}

/** At once, and then repeatedly until the test ends. */
function repeat(what: () => Promise<void>): { readonly stop: () => void } {
  void what()
  const timer = setInterval(() => void what(), INTERVAL)
  const stop = () => clearInterval(timer)
  onTestFinished(stop)
  return { stop }
}

/** undefined if the server closes the connection instead, as it does when the session has ended. */
async function codeOf(reply: ReturnType<Session['ping']>): Promise<Code> {
  const message = await reply
  return message && errorName(message.err)
}

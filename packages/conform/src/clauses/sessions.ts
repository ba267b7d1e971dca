import { CreateMode, OpCode } from '@zk/wire'
import { open, type Place, type Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import { requestFrame } from './frames.ts'
import type { Trial } from './trial.ts'

const { EPHEMERAL } = CreateMode

/** Longer than any session of a check lives without its client, in ms. */
const EXPIRY_PATIENCE = 25_000
/** A timeout of a session that is kept alive, in ms: so long that a busy machine does not let it expire. */
const STEADY = 3_000
/** How many timeouts pass until a session that is not kept alive has expired, even if a tick is half a timeout. */
const ENOUGH = 1.8

export const sessions: Chapter = {
  name: 'sessions',
  title: 'Sessions',
  introduction:
    'A session is known to all servers, and outlives its connection: the client resumes it at the same server or at another one. ' +
    'It ends when the client closes it, or when it expires, because no request has come for longer than its timeout. ' +
    'Then its ephemeral nodes are deleted. It is the leader that decides whether a session has expired.',
  clauses: [
    {
      number: 1,
      text: 'A session outlives its connection. It is resumed with its id and its password, and the answer has the same id.',
      source: 'ZooKeeperServer.reopenSession, finishSessionInit',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.drop()
          t.see(t.handshake(await t.open({ session: a }), a))
        },
        expect: ['resumed'],
      },
    },
    {
      number: 2,
      text: 'A session has one connection at a server: when it is resumed there, the server closes the older connection.',
      source: 'ZooKeeperServer.processConnectRequest, ServerCnxnFactory.closeSession',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await t.open({ session: a })
          t.see(await t.fate(a.connection))
        },
        expect: ['closed'],
      },
    },
    {
      number: 3,
      text: 'The timeout of a session that is resumed is that of the new handshake, within the limits of the server.',
      source: 'ZooKeeperServer.processConnectRequest',
      follows: ['sessions/1', 'handshake/10'],
      check: {
        play: async (t) => {
          const a = await t.open({ timeOut: 12_000 })
          t.see((await t.open({ session: a, timeOut: 9_000 })).timeOut)
        },
        expect: ['9000'],
      },
    },
    {
      number: 4,
      text: '`closeSession` is answered.',
      source: 'PrepRequestProcessor.pRequest2Txn, FinalRequestProcessor (closeSession)',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.call('closeSession', undefined)))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 5,
      text: 'After the reply to `closeSession` the server closes the connection.',
      source: 'FinalRequestProcessor.processRequest, ServerCnxn.sendCloseSession',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          void a.call('closeSession', undefined)
          t.see(await t.fate(a.connection))
        },
        expect: ['closed'],
      },
    },
    {
      number: 6,
      text: 'A session that was closed cannot be resumed.',
      source: 'SessionTrackerImpl.removeSession, touchSession',
      follows: ['handshake/14'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.call('closeSession', undefined)
          t.see(t.handshake(await t.open({ session: a }), a))
        },
        expect: ['refused'],
      },
    },
    {
      number: 7,
      profile: 'full',
      text: 'Requests that a client has sent after `closeSession` are not executed.',
      source: 'PrepRequestProcessor, SessionTrackerImpl.setSessionClosing, checkSession',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const b = await t.open()
          const closed = a.call('closeSession', undefined)
          // It may be answered with an error, or not at all.
          const request = { path: a.pathBelow('/n'), data: null, acl: open, flags: 0 }
          a.connection.write(requestFrame('create', request, 500))
          await closed
          await t.fate(a.connection)
          await b.sync('/')
          t.see(t.error(await b.exists('/n')))
        },
        expect: ['NoNode'],
      },
    },
    {
      number: 8,
      text: 'A session of which nothing is heard for longer than its timeout expires, even if its connection is gone. It cannot be resumed any more.',
      source: 'SessionTrackerImpl.run, ZooKeeperServer.expire',
      follows: ['handshake/14'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open({ timeOut: 1, pings: false })
          const b = await t.open()
          await a.create('/e', { flags: EPHEMERAL })
          await b.exists('/e', true)
          await a.drop()
          await t.within(b.connection.heardEvents(1), EXPIRY_PATIENCE)
          t.see(t.handshake(await t.open({ session: a }), a))
        },
        expect: ['refused'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: 'A session does not expire before its whole timeout has passed since the last request, even if its connection is gone.',
      source: 'SessionTrackerImpl.touchSession, ExpiryQueue.update',
      follows: ['sessions/8'],
      check: {
        waits: true,
        play: async (t) => {
          const { runtime } = t.scenario.stage
          const b = await t.open()
          const a = await t.open({ timeOut: 1, pings: false })
          await a.create('/e', { flags: EPHEMERAL })
          await b.exists('/e', true)
          const lastSent = runtime.now()
          await a.exists('/e')
          await a.drop()
          await t.within(b.connection.heardEvents(1), EXPIRY_PATIENCE)
          t.see(runtime.now() - lastSent < a.timeOut ? 'too early' : 'not too early')
        },
        expect: ['not too early'],
      },
    },
    {
      number: 10,
      level: 'SHOULD',
      profile: 'full',
      text: 'The moment at which a session expires is rounded up to a tick, so a session lives longer than its timeout by a tick at most.',
      source: 'ExpiryQueue.roundToNextInterval',
      check: { unchecked: 'A server does not tell its clients the tick, and a busy server may be late.' },
    },
    {
      number: 11,
      profile: 'full',
      text: 'When a session expires, the server closes its connection, and sends nothing before.',
      source: 'ZooKeeperServer.close, FinalRequestProcessor.processRequest (closeSession without a connection)',
      follows: ['sessions/8', 'handshake/16'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open({ timeOut: 1, pings: false })
          // Later, a server closes a silent connection even if its session goes on.
          t.see(await t.fate(a.connection, 1.5 * a.timeOut + 2_500), `${a.connection.headers.length} frames`)
        },
        expect: ['closed 0 frames'],
      },
    },
    {
      number: 12,
      text: 'Pings keep a session alive.',
      source: 'ZooKeeperServer.submitRequest (from 3.6 on submitRequestNow), touch',
      check: {
        waits: true,
        play: async (t) => t.see(await keptAlive(t, (session) => session.ping())),
        expect: ['alive'],
      },
    },
    {
      number: 13,
      profile: 'full',
      text: 'Every other request keeps a session alive, too, even if it fails.',
      source:
        'ZooKeeperServer.submitRequest (from 3.6 on submitRequestNow), which calls touch before it examines the request',
      check: {
        waits: true,
        play: async (t) => t.see(await keptAlive(t, (session) => session.getData('/none'))),
        expect: ['alive'],
      },
    },
    {
      number: 14,
      level: 'SHOULD',
      profile: 'full',
      text: '`auth` does not keep a session alive, although it is answered.',
      source: 'ZooKeeperServer.processPacket, which answers it without submitRequest',
      follows: ['sessions/8', 'sessions/11', 'handshake/11'],
      check: {
        waits: true,
        play: async (t) =>
          t.see(await keptAlive(t, (session) => session.auth('digest', 'conform:secret'), { timeOut: 1, timeouts: 6 })),
        expect: ['expired'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'Resuming a session keeps it alive.',
      source: 'ZooKeeperServer.revalidateSession',
      follows: ['sessions/1'],
      check: {
        waits: true,
        play: async (t) => {
          let current = await t.open({ timeOut: STEADY, pings: false })
          const start = t.scenario.stage.runtime.now()
          while (t.scenario.stage.runtime.now() - start < ENOUGH * current.timeOut) {
            await t.sleep(current.timeOut / 4)
            const next = await t.open({ session: current, timeOut: STEADY, pings: false })
            if (next.timeOut <= 0) break
            current = next
          }
          t.see(current.isOpen ? 'alive' : 'expired')
        },
        expect: ['alive'],
      },
    },
    {
      number: 16,
      needs: ['ensemble'],
      text: 'A session can be resumed at any other server.',
      source: 'Learner.validateSession, LearnerHandler (REVALIDATE)',
      follows: ['sessions/1'],
      check: {
        play: async (t) => {
          let current = await t.open()
          await current.create('/e', { flags: EPHEMERAL })
          for (const at of ['follower', 'other follower', 'leader'] as const) {
            const next = await t.open({ at, session: current })
            await next.sync('/')
            t.see(t.handshake(next, current), t.error(await next.exists('/e')))
            current = next
          }
        },
        expect: ['resumed Ok', 'resumed Ok', 'resumed Ok'],
      },
    },
    {
      number: 17,
      level: 'MAY',
      profile: 'full',
      needs: ['ensemble'],
      text: 'When a session has moved to another server, its older connection stays, and reads are still answered there.',
      source: 'FinalRequestProcessor; only the leader knows the owner of a session (SessionTrackerImpl.checkSession)',
      follows: ['sessions/16'],
      check: {
        play: async (t) => {
          const { a } = await moved(t)
          t.see(t.error(await a.getData('/e')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 18,
      profile: 'full',
      needs: ['ensemble'],
      text: 'A write on the older connection of a session that has moved is not executed.',
      source: 'SessionTrackerImpl.checkSession (SessionMovedException), PrepRequestProcessor',
      follows: ['sessions/16'],
      check: {
        play: async (t) => {
          const { a, b } = await moved(t)
          await a.setData('/e', 'never')
          t.see(t.data(await b.getData('/e')))
        },
        expect: [`'moved'`],
      },
    },
    {
      number: 19,
      profile: 'full',
      needs: ['ensemble'],
      text: 'A write on the older connection of a session that has moved is not answered: the server closes the connection.',
      source:
        'FinalRequestProcessor.processRequest (SessionMovedException), ServerCnxn.sendCloseSession (ZOOKEEPER-710)',
      follows: ['sessions/16', 'sessions/18'],
      check: {
        play: async (t) => {
          const { a } = await moved(t)
          t.see(t.error(await a.setData('/e', 'never')), await t.fate(a.connection))
        },
        expect: ['closed closed'],
      },
    },
    {
      number: 20,
      profile: 'full',
      needs: ['ensemble'],
      text: 'A `multi` on the older connection of a session that has moved is not answered either: the server closes the connection.',
      source: 'FinalRequestProcessor.processRequest (SessionMovedException)',
      follows: ['sessions/16', 'sessions/18', 'sessions/19'],
      check: {
        play: async (t) => {
          const { a } = await moved(t)
          const multi = await a.multi({ type: OpCode.check, request: { path: '/e', version: -1 } })
          t.see(t.results(multi), await t.fate(a.connection, 1_000))
        },
        expect: ['closed closed'],
        differs: [
          {
            before: '3.6',
            what: 'The `multi` is answered: each of its results is the error `SessionMoved`. The connection stays open.',
            expect: ['Ok [error SessionMoved] open'],
          },
        ],
      },
    },
    {
      number: 21,
      level: 'MAY',
      profile: 'full',
      needs: ['ensemble'],
      text: '`closeSession` on the older connection of a session that has moved ends the session.',
      source: 'PrepRequestProcessor.pRequest2Txn (closeSession), which does not check the owner',
      follows: ['sessions/16', 'sessions/4'],
      check: {
        play: async (t) => {
          const { a, b } = await moved(t)
          t.see(t.error(await a.call('closeSession', undefined)), await t.fate(b.connection))
        },
        expect: ['Ok closed'],
      },
    },
    {
      number: 22,
      profile: 'full',
      needs: ['ensemble'],
      text: 'Pings to a follower keep a session alive: the follower tells the leader of which sessions it has heard.',
      source: 'LearnerSessionTracker.touchSession, Learner.ping, LearnerHandler.run',
      follows: ['sessions/12'],
      check: {
        play: async (t) => t.see(await keptAlive(t, (session) => session.ping(), { at: 'follower' })),
        expect: ['alive'],
      },
    },
    {
      number: 23,
      profile: 'full',
      needs: ['ensemble', 'control'],
      text: 'Sessions and their ephemeral nodes outlive the leader: they can be resumed when another one is elected, which gives each its full timeout.',
      source: 'ZooKeeperServer.startup, SessionTrackerImpl (sessionsWithTimeout)',
      follows: ['sessions/16'],
      check: {
        play: async (t) => {
          const a = await t.open({ timeOut: 20_000 })
          await a.create('/e', { flags: EPHEMERAL })
          const b = await t.open({ at: 'follower', timeOut: 20_000 })
          await b.sync('/')
          await t.scenario.stage.kill('leader')
          await t.fate(a.connection)
          await t.scenario.stage.elected()
          const again = await t.scenario.resume(a, { at: 'follower', timeOut: 20_000 })
          t.see(t.handshake(again, a), t.error(await again.exists('/e')))
        },
        expect: ['resumed Ok'],
      },
    },
    {
      number: 24,
      level: 'SHOULD',
      profile: 'full',
      text: 'A leader that was elected, or a server that has started, counts the timeout with which a session was created, until the client is heard of.',
      source: 'ZKDatabase.sessionsWithTimeouts, FileTxnSnapLog.processTransaction',
      check: { unchecked: 'It takes an election and the time of two timeouts.' },
    },
    {
      number: 25,
      profile: 'full',
      text: 'A session that is resumed with a shorter timeout expires after that one, however long it could have lived before.',
      source: 'ZooKeeperServer.revalidateSession, ExpiryQueue.update',
      follows: ['sessions/3', 'sessions/8', 'sessions/15'],
      check: {
        waits: true,
        play: async (t) => {
          const a = await t.open({ timeOut: 2 ** 31 - 1, pings: false })
          // Until followers have told the leader of the new session, they may still give it the timeout of its creation.
          await t.sleep(2_000)
          const b = await t.open({ session: a, timeOut: 1, pings: false })
          await b.drop()
          // With room for a long tick, and for a busy machine.
          await t.sleep(1.5 * b.timeOut + 2_500)
          t.see(t.handshake(await t.open({ session: a }), a))
        },
        expect: ['refused'],
      },
    },
    {
      number: 26,
      profile: 'extended',
      text: 'A server with `localSessionsEnabled` opens sessions that only it knows. They cannot be resumed at another server.',
      source: 'UpgradeableSessionTracker, LocalSessionTracker (ZOOKEEPER-1147)',
      check: { unchecked: 'It needs servers with this setting, on which other clauses do not hold.' },
    },
    {
      number: 27,
      profile: 'extended',
      text: 'A local session becomes a global one when it creates an ephemeral node, if `localSessionsUpgradingEnabled` is set. Otherwise the `create` fails with `EphemeralOnLocalSession`.',
      source: 'QuorumZooKeeperServer.checkUpgradeSession, PrepRequestProcessor.pRequest2TxnCreate (ZOOKEEPER-1147)',
      check: { unchecked: 'It needs servers with these settings, on which other clauses do not hold.' },
    },
  ],
}

interface Liveliness {
  /** @default STEADY */
  readonly timeOut?: number
  /** How many timeouts to wait. @default ENOUGH */
  readonly timeouts?: number
  readonly at?: Place
}

/** Whether a session whose client does only this, four times in a timeout, is `alive` after a while, or has `expired`. */
async function keptAlive(
  t: Trial,
  touch: (session: Session) => Promise<unknown>,
  { timeOut = STEADY, timeouts = ENOUGH, at = 'leader' }: Liveliness = {},
): Promise<string> {
  const { runtime } = t.scenario.stage
  const a = await t.open({ at, timeOut, pings: false })
  const end = runtime.now() + timeouts * a.timeOut
  while (a.isOpen && runtime.now() < end) {
    void touch(a)
    await t.within(a.connection.closed, a.timeOut / 4)
  }
  return a.isOpen ? 'alive' : 'expired'
}

/** A session that has moved from a follower, connection a, to the leader, connection b. */
async function moved(t: Trial): Promise<{ readonly a: Session; readonly b: Session }> {
  const a = await t.open({ at: 'follower' })
  await a.create('/e', { flags: EPHEMERAL })
  const b = await t.open({ at: 'leader', session: a, pings: false })
  await b.setData('/e', 'moved')
  return { a, b }
}

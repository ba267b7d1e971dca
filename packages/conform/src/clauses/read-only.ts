import { CreateMode, OpCode } from '@zk/wire'
import { open, type Session } from '../play/index.ts'
import type { Chapter, Need } from './clause.ts'
import type { Trial } from './trial.ts'

const needs: readonly Need[] = ['ensemble', 'control', 'read-only']
const profile = 'extended'
/** How long a member may take to find that there is no leader, and to begin with read-only mode, in ms. */
const BEGIN = 20_000

export const readOnly: Chapter = {
  name: 'read-only',
  title: 'Read-only mode',
  introduction:
    'With `readonlymode.enabled` a member of an ensemble that finds no leader serves reads, to clients that have said in their ' +
    'handshake that they accept that. What it shows may be old, and it accepts no writes. A client that was granted such a ' +
    'session keeps looking for a server with a leader.',
  clauses: [
    {
      number: 1,
      profile,
      needs,
      text: 'A server in read-only mode does not answer a client whose handshake does not say `readOnly` true: it closes the connection.',
      source: 'ZooKeeperServer.processConnectRequest (ServerCnxn.DisconnectReason.NOT_READ_ONLY_CLIENT), ZOOKEEPER-784',
      check: {
        play: async (t) => {
          await loseLeader(t)
          t.see(t.handshake(await t.open({ at: 'follower', readOnly: false })))
          t.see(t.handshake(await t.open({ at: 'follower', readOnly: undefined })))
        },
        expect: ['closed', 'closed'],
      },
    },
    {
      number: 2,
      profile,
      needs,
      text: 'A server in read-only mode gives a session to a client whose handshake says `readOnly` true, and its answer says the same. From 3.7 on this requires `localSessionsEnabled`.',
      source: 'ZooKeeperServer.finishSessionInit; ReadOnlyZooKeeperServer.setLocalSessionFlag',
      follows: ['handshake/7'],
      check: {
        play: async (t) => {
          await loseLeader(t)
          const a = await t.open({ at: 'follower', readOnly: true })
          t.see(t.handshake(a), `readOnly ${t.received(a.connection)[40]}`)
        },
        expect: ['new readOnly 1'],
      },
    },
    {
      number: 3,
      profile,
      text: 'Without `localSessionsEnabled` a server from 3.7 on answers a handshake for a new session with a reply header: xid 0, and the error `NotReadOnly`. A client that reads this as the answer to its handshake finds garbage.',
      source: 'ReadOnlyRequestProcessor.run (createSession)',
      since: '3.7',
      check: { unchecked: 'It needs servers with `readonlymode.enabled` and without `localSessionsEnabled`.' },
    },
    {
      number: 4,
      profile,
      needs,
      text: 'A server in read-only mode answers reads.',
      source: 'ReadOnlyRequestProcessor.run',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          t.see(t.data(await a.getData('/n')), t.children(await a.getChildren('/')))
        },
        expect: [`'old' [n]`],
      },
    },
    {
      number: 5,
      profile,
      needs,
      text: 'In read-only mode every write fails with `NotReadOnly`, even if it would fail for another reason, too.',
      source: 'ReadOnlyRequestProcessor.run',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          t.see('create', t.error(await a.create('/m')))
          t.see('create without a parent', t.error(await a.create('/none/m')))
          t.see('setData', t.error(await a.setData('/n', 'new')))
          t.see('delete', t.error(await a.delete('/n')))
          t.see('setACL', t.error(await a.setACL('/n', open)))
        },
        expect: ['create', 'create without a parent', 'setData', 'delete', 'setACL'].map(
          (what) => `${what} NotReadOnly`,
        ),
      },
    },
    {
      number: 6,
      profile,
      needs,
      text: 'In read-only mode a `multi` fails as a whole, with `NotReadOnly` in its header, even if it only checks versions.',
      source: 'ReadOnlyRequestProcessor.run',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          t.see(t.results(await a.multi({ type: OpCode.check, request: { path: '/n', version: -1 } })))
        },
        expect: ['NotReadOnly'],
      },
    },
    {
      number: 7,
      profile,
      needs,
      text: 'In read-only mode `sync` fails with `NotReadOnly`, because there is no leader.',
      source: 'ReadOnlyRequestProcessor.run',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          t.see(t.error(await a.sync('/')))
        },
        expect: ['NotReadOnly'],
      },
    },
    {
      number: 8,
      profile,
      needs,
      text: 'After the error `NotReadOnly` the connection stays open.',
      source: 'ReadOnlyRequestProcessor.run',
      follows: ['read-only/2', 'read-only/5'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          await a.create('/m')
          t.see(t.error(await a.ping()))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 9,
      profile,
      needs,
      text: 'A session of the ensemble cannot be resumed at a server in read-only mode, which closes the connection without an answer. So the session does not end.',
      source: 'ReadOnlyZooKeeperServer.validateSession (ZOOKEEPER-3863)',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await t.open({ timeOut: 20_000 })
          // An ephemeral node makes it a session of the ensemble, even if new sessions are local.
          await a.create('/e', { flags: CreateMode.EPHEMERAL })
          await loseLeader(t)
          t.see(t.handshake(await t.open({ at: 'follower', session: a, readOnly: true, timeOut: 20_000 }), a))
        },
        expect: ['closed'],
        differs: [{ before: '3.7', what: 'It is resumed.', expect: ['resumed'] }],
      },
    },
    {
      number: 10,
      profile,
      needs,
      text: 'In read-only mode `closeSession` is answered, and then the server closes the connection.',
      source: 'ReadOnlyZooKeeperServer.setLocalSessionFlag, FinalRequestProcessor',
      follows: ['read-only/2', 'sessions/5'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          t.see(t.error(await a.call('closeSession', undefined)), await t.fate(a.connection))
        },
        expect: ['Ok closed'],
      },
    },
    {
      number: 11,
      profile,
      needs,
      text: 'When there is a leader again, the server closes the connections that it has accepted in read-only mode.',
      source: 'ReadOnlyZooKeeperServer.shutdown',
      follows: ['read-only/2'],
      check: {
        play: async (t) => {
          const a = await readOnlySession(t)
          await t.scenario.stage.restart('leader')
          await t.scenario.stage.restart('other follower')
          t.see(await t.fate(a.connection, BEGIN))
        },
        expect: ['closed'],
      },
    },
    {
      number: 12,
      profile,
      needs,
      text: 'A server in read-only mode answers the four-letter word `isro` with `ro`. Clients use it to find a server that is not.',
      source: 'IsroCommand, ClientCnxn.SendThread.pingRwServer',
      check: {
        play: async (t) => t.see(await loseLeader(t)),
        expect: ['ro'],
      },
    },
  ],
}

/** A session at a server that has lost its leader, with the node /n. */
async function readOnlySession(t: Trial): Promise<Session> {
  const before = await t.open({ at: 'follower' })
  await before.create('/n', { data: 'old' })
  await loseLeader(t)
  return t.open({ at: 'follower', readOnly: true })
}

/** Ends the leader and the other follower, and waits for the server that is left. Returns what it answers to `isro`. */
async function loseLeader(t: Trial): Promise<string> {
  const { stage } = t.scenario
  // In this order there is never another leader.
  await stage.kill('other follower')
  await stage.kill('leader')
  const end = stage.runtime.now() + BEGIN
  let answer = ''
  while (answer !== 'ro' && stage.runtime.now() < end) {
    await t.sleep(50)
    answer = await t.scenario.ask('follower', 'isro', { timeout: 1_000 })
  }
  return answer
}

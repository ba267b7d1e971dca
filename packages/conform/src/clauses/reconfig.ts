import type { Reply, Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const profile = 'extended'
const CONFIG = '/zookeeper/config'
/** The id of no configuration: a request with it changes nothing. */
const NO_CONFIG = 77n

export const reconfig: Chapter = {
  name: 'reconfig',
  title: 'Reconfiguration',
  introduction:
    'The node `/zookeeper/config` has the servers of the ensemble, one line each, and the version of this configuration: the ' +
    'zxid of the reconfiguration that has made it, in hex. reconfig (opcode 16) changes it: it has servers that join, servers ' +
    'that leave, or a whole new list, and the version that the client knows, or -1. Clients watch the node to follow the ' +
    'servers. Servers only do this with `reconfigEnabled=true`.',
  clauses: [
    {
      number: 1,
      profile: 'full',
      text: 'Everyone may read `/zookeeper/config`, and nobody but the superuser may do anything else: its ACL is READ for `world`.',
      source: 'DataTree.addConfigNode; ZOOKEEPER-2014',
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          t.see(t.error(await a.getData(CONFIG)), t.acl(await a.getACL(CONFIG)))
        },
        expect: ['Ok [world:anyone 1]'],
      },
    },
    {
      number: 2,
      profile: 'full',
      text:
        'The data is a line `server.ID=HOST:PORT:PORT:ROLE;CLIENTHOST:CLIENTPORT` for each server, without the part after `;` if ' +
        'the clients’ address is not part of the configuration, and a last line `version=HEX`. A single server has no data there.',
      source: 'QuorumMaj.toString, QuorumServer.toString',
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          const data = t.field(await a.getData(CONFIG), 'data')
          t.see(data instanceof Uint8Array && IS_CONFIG.test(new TextDecoder().decode(data)))
        },
        expect: ['true'],
      },
    },
    {
      number: 3,
      profile: 'full',
      text: 'A client cannot write `/zookeeper/config` with `setData`: NoAuth.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['reconfig/1'],
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          // The version saves the configuration of a server that would permit it.
          t.see(t.error(await a.setData(CONFIG, '', 1_000_000)))
        },
        expect: ['NoAuth'],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: 'Without `reconfigEnabled=true`, reconfig fails with ReconfigDisabled, whatever it asks for and whoever asks.',
      source: 'PrepRequestProcessor.pRequest2Txn; ZOOKEEPER-2014',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, { curConfigId: NO_CONFIG })))
          t.see(t.error(await ask(a, { curConfigId: NO_CONFIG, joiningServers: 'nonsense' })))
        },
        expect: ['ReconfigDisabled', 'ReconfigDisabled'],
        // It is enabled.
        allowed: [['BadVersion', 'BadVersion']],
      },
    },
    {
      number: 5,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'A reconfig with another version than that of the configuration fails with BadVersion. -1 fits any.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, { curConfigId: NO_CONFIG })))
          t.see(t.error(await ask(a, { curConfigId: NO_CONFIG, joiningServers: 'nonsense' })))
          t.see(t.error(await ask(a, { joiningServers: 'nonsense' })))
        },
        expect: ['BadVersion', 'BadVersion', 'BadArguments'],
      },
    },
    {
      number: 6,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'Servers that join are a list with commas: `server.ID=HOST:PORT:PORT:ROLE;CLIENTPORT`. Without the clients’ port, or in another form, it fails with BadArguments.',
      source: 'PrepRequestProcessor.pRequest2Txn, QuorumServer',
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const joiningServers of ['server.9', 'server.9=203.0.113.9', 'server.9=203.0.113.9:2888:3888']) {
            t.see(t.error(await ask(a, { joiningServers })))
          }
        },
        expect: ['BadArguments', 'BadArguments', 'BadArguments'],
      },
    },
    {
      number: 7,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'A new list that is no configuration fails with BadArguments.',
      source: 'QuorumPeerConfig.parseDynamicConfig',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, { newMembers: 'nonsense' })))
        },
        expect: ['BadArguments'],
      },
    },
    {
      number: 8,
      profile,
      needs: ['ensemble', 'reconfig'],
      level: 'SHOULD',
      text: 'The servers that leave are ids with commas between them. One that is no number makes the request fail with MarshallingError.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, { leavingServers: 'one' })))
        },
        expect: ['MarshallingError'],
      },
    },
    {
      number: 9,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'A configuration with fewer than two voters fails with BadArguments.',
      source: 'PrepRequestProcessor.pRequest2Txn, QuorumPeerConfig.isStandaloneEnabled',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, { leavingServers: (await idsOf(t)).slice(1).join(',') })))
        },
        expect: ['BadArguments'],
      },
    },
    {
      number: 10,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'A configuration without a majority of servers that follow the leader now fails with NewConfigNoQuorum.',
      source: 'PrepRequestProcessor.pRequest2Txn, Leader.isQuorumSynced',
      check: {
        play: async (t) => {
          const a = await t.open()
          const strangers = [91, 92, 93, 94].map((id) => `server.${id}=203.0.113.${id}:2888:3888:participant;2181`)
          t.see(t.error(await ask(a, { joiningServers: strangers.join(',') })))
        },
        expect: ['NewConfigNoQuorum'],
      },
    },
    {
      number: 11,
      profile,
      needs: ['ensemble', 'reconfig'],
      text: 'Last, reconfig needs WRITE on `/zookeeper/config`: NoAuth.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await ask(a, {})))
        },
        expect: ['NoAuth'],
      },
    },
    {
      number: 12,
      profile,
      needs: ['ensemble', 'reconfig', 'superuser'],
      text:
        'The reply to a reconfig is that of `getData`: the new configuration, and the Stat of the node. The version of the ' +
        'configuration is the zxid of the reply, in hex. A reconfig that changes no server makes a new version, too.',
      source: 'FinalRequestProcessor.processRequest, PrepRequestProcessor.pRequest2Txn',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.auth('digest', t.superUser)
          const reply = await ask(a, {})
          const data = t.field(reply, 'data')
          const text = data instanceof Uint8Array ? new TextDecoder().decode(data) : ''
          t.see(t.error(reply), IS_CONFIG.test(text), text.endsWith(`version=${reply?.zxid.toString(16)}`))
        },
        expect: ['Ok true true'],
      },
    },
    {
      number: 13,
      profile,
      needs: ['ensemble', 'reconfig', 'superuser'],
      text: 'A reconfig changes the data of `/zookeeper/config`, and triggers its watches.',
      source: 'DataTree.setData',
      follows: ['reconfig/12'],
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          await a.auth('digest', t.superUser)
          await a.getData(CONFIG, true)
          const reply = await ask(a, {})
          for (const event of await t.events(a)) t.see(event)
          t.see(t.statOf(await a.exists(CONFIG))?.mzxid === reply?.zxid)
        },
        expect: [`NodeDataChanged ${CONFIG}`, 'true'],
      },
    },
    {
      number: 14,
      profile,
      needs: ['ensemble', 'reconfig', 'superuser'],
      level: 'SHOULD',
      text: 'The version of the data of `/zookeeper/config` is always -1: the version of a configuration is in its text.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['reconfig/12'],
      check: {
        play: async (t) => {
          const a = await t.open({ isBelowRoot: false })
          await a.auth('digest', t.superUser)
          await ask(a, {})
          t.see(t.stat(await a.exists(CONFIG), 'version'))
        },
        expect: ['version -1'],
      },
    },
    {
      number: 15,
      profile,
      text: 'While a reconfig is under way, another one fails with ReconfigInProgress.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      check: {
        unchecked:
          'A reconfig takes a few milliseconds, unless the servers of the new configuration are slow at the right moment.',
      },
    },
    {
      number: 16,
      profile,
      text: 'A single server fails with Unimplemented, and keeps the connection.',
      source: 'PrepRequestProcessor.pRequest2Txn: its ZooKeeperServer is no LeaderZooKeeperServer',
      check: {
        unchecked:
          'It needs a single server with `reconfigEnabled=true`; everything else of this chapter needs an ensemble.',
      },
    },
  ],
}

const IS_CONFIG = /^(?:(?:server\.\d+=\S+:\d+:\d+:(?:participant|observer)\S*\n)+version=[\da-f]+)?$/

interface Asked {
  readonly joiningServers?: string
  readonly leavingServers?: string
  readonly newMembers?: string
  readonly curConfigId?: bigint
}

function ask(session: Session, asked: Asked): Promise<Reply> {
  const nothing = { joiningServers: null, leavingServers: null, newMembers: null, curConfigId: -1n }
  return session.call('reconfig', { ...nothing, ...asked })
}

/** The ids of the servers in the configuration. */
async function idsOf(t: Trial): Promise<readonly string[]> {
  const a = await t.open({ isBelowRoot: false })
  const data = t.field(await a.getData(CONFIG), 'data')
  const text = data instanceof Uint8Array ? new TextDecoder().decode(data) : ''
  return Array.from(text.matchAll(/^server\.(\d+)=/gm), ([, id = '']) => id)
}

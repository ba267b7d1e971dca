import { CreateMode } from '@zk/wire'
import { ops, type Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

const profile = 'extended'
const since = '3.7'
/** A limit of -1 means no limit. All releases can read this form; releases before 3.7 ignore what follows `;`. */
const limits = (hard = '') => `count=-1,bytes=-1=;${hard}`

export const quota: Chapter = {
  name: 'quota',
  title: 'Quotas',
  introduction:
    'The quota of `/a` is in two nodes that clients create: `/zookeeper/quota/a/zookeeper_limits` and ' +
    '`/zookeeper/quota/a/zookeeper_stats`. The limits are a text such as `count=4,bytes=100`: the number of nodes in the subtree ' +
    'of `/a`, and of bytes of their data. These limits are soft: servers only log that they are exceeded. From 3.7 on ' +
    '(ZOOKEEPER-451) there are hard limits, `;byteHardLimit=100;countHardLimit=4`, with which servers refuse writes, if they ' +
    'have `enforceQuota=true`. A limit of -1 means no limit.',
  clauses: [
    {
      number: 1,
      profile: 'full',
      text:
        'When `zookeeper_stats` is created, the server writes into it what there is: `count=C,bytes=B`. The node itself counts, ' +
        'too, and so do all nodes below it.',
      source: 'DataTree.createNode, DataTree.updateQuotaForPath',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q', { data: '123' })
          await a.create('/q/a', { data: '12345' })
          await a.create('/q/a/b', { data: null })
          t.see(await (await Quota.set(t, '/q', limits())).stats())
        },
        expect: ["'count=3,bytes=8'"],
      },
    },
    {
      number: 2,
      profile: 'full',
      text: 'Each `create` and `delete` in the subtree counts, also of ephemeral nodes.',
      source: 'DataTree.createNode, DataTree.deleteNode',
      follows: ['quota/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          const quota = await Quota.set(t, '/q', limits())
          await a.create('/q/a', { data: '123' })
          await a.create('/q/a/b', { data: '12', flags: CreateMode.EPHEMERAL })
          t.see(await quota.stats())
          await a.delete('/q/a/b')
          t.see(await quota.stats())
        },
        expect: ["'count=3,bytes=5'", "'count=2,bytes=3'"],
      },
    },
    {
      number: 3,
      profile: 'full',
      text: '`setData` counts the difference of the lengths.',
      source: 'DataTree.setData',
      follows: ['quota/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a', { data: '12345' })
          const quota = await Quota.set(t, '/q', limits())
          await a.setData('/q/a', '1')
          t.see(await quota.stats())
        },
        expect: ["'count=2,bytes=1'"],
      },
    },
    {
      number: 4,
      profile: 'full',
      text: 'Nodes beside the subtree do not count, even if their names begin in the same way.',
      source: 'PathTrie.findMaxPrefix',
      follows: ['quota/1'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/queue', { data: '123' })
          const quota = await Quota.set(t, '/q', limits())
          t.see(await quota.stats())
          await a.create('/queue/a', { data: '123' })
          t.see(await quota.stats())
        },
        expect: ["'count=1,bytes=0'", "'count=1,bytes=0'"],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: 'The parts of a multi count like other writes.',
      source: 'DataTree.processTxn',
      follows: ['quota/2', 'quota/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a')
          const quota = await Quota.set(t, '/q', limits())
          await a.multi(
            ops.delete('/q/a'),
            ops.create('/q/b', { data: '12' }),
            ops.create('/q/c'),
            ops.setData('/q', '1'),
          )
          t.see(await quota.stats())
        },
        expect: ["'count=3,bytes=3'"],
      },
    },
    {
      number: 6,
      profile: 'full',
      level: 'SHOULD',
      text: 'Servers count outside of transactions: version and mzxid of `zookeeper_stats` stay, and no watch fires.',
      source: 'DataTree.updateQuotaStat',
      follows: ['quota/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          const quota = await Quota.set(t, '/q', limits())
          await quota.watch()
          await a.create('/q/a')
          t.see(...(await quota.changes()))
        },
        expect: ['version 0 mzxid = czxid true events 0'],
      },
    },
    {
      number: 7,
      profile: 'full',
      text: 'The soft limits `count` and `bytes` refuse nothing.',
      source: 'ZooKeeperServer.checkQuota',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', 'count=1,bytes=1')
          t.see(t.error(await a.create('/q/a', { data: '12345' })), t.error(await a.setData('/q', '12345')))
        },
        expect: ['Ok Ok'],
      },
    },
    {
      number: 8,
      since,
      profile,
      text: 'A `create` that would exceed `countHardLimit` fails with QuotaExceeded.',
      source: 'ZooKeeperServer.checkQuota; ZOOKEEPER-451',
      follows: ['quota/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', limits('countHardLimit=2'))
          t.see(t.error(await a.create('/q/a')), t.error(await a.create('/q/b')), t.error(await a.create('/beside')))
        },
        expect: ['Ok QuotaExceeded Ok'],
      },
    },
    {
      number: 9,
      since,
      profile,
      text: 'A `create` or `setData` that would exceed `byteHardLimit` fails with QuotaExceeded.',
      source: 'ZooKeeperServer.checkQuota; ZOOKEEPER-451',
      follows: ['quota/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a')
          await Quota.set(t, '/q', limits('byteHardLimit=4'))
          t.see(t.error(await a.setData('/q/a', '12345')), t.error(await a.setData('/q/a', '1234')))
          t.see(t.error(await a.create('/q/b', { data: '1' })), t.error(await a.create('/q/c')))
        },
        expect: ['QuotaExceeded Ok', 'QuotaExceeded Ok'],
      },
    },
    {
      number: 10,
      since,
      profile,
      text: 'A `setData` with as many bytes as before is never refused, even if the limit is exceeded already.',
      source: 'ZooKeeperServer.checkQuota',
      follows: ['quota/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q', { data: '12345' })
          await Quota.set(t, '/q', limits('byteHardLimit=1'))
          t.see(t.error(await a.setData('/q', '54321')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 11,
      since,
      profile,
      level: 'SHOULD',
      text: 'A `setData` that makes the data shorter, but leaves more than `byteHardLimit`, fails with QuotaExceeded.',
      source: 'ZooKeeperServer.checkQuota',
      follows: ['quota/9'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q', { data: '12345' })
          await Quota.set(t, '/q', limits('byteHardLimit=1'))
          t.see(t.error(await a.setData('/q', '123')), t.error(await a.setData('/q', '1')))
        },
        expect: ['QuotaExceeded Ok'],
      },
    },
    {
      number: 12,
      since,
      profile,
      text: '`delete` is never refused.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['quota/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a')
          await Quota.set(t, '/q', limits('countHardLimit=1'))
          t.see(t.error(await a.create('/q/b')), t.error(await a.delete('/q/a')))
        },
        expect: ['QuotaExceeded Ok'],
      },
    },
    {
      number: 13,
      since,
      profile,
      text: 'A `create` is checked against the quota last: NoNode and NodeExists come first.',
      source: 'PrepRequestProcessor.pRequest2TxnCreate',
      follows: ['quota/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a')
          await Quota.set(t, '/q', limits('countHardLimit=1'))
          for (const path of ['/q/none/a', '/q/a', '/q/b']) t.see(t.error(await a.create(path)))
        },
        expect: ['NoNode', 'NodeExists', 'QuotaExceeded'],
      },
    },
    {
      number: 14,
      since,
      profile,
      text: 'A `setData` is checked against the quota before its version: QuotaExceeded comes before BadVersion.',
      source: 'PrepRequestProcessor.pRequest2Txn',
      follows: ['quota/9', 'set-data/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', limits('byteHardLimit=1'))
          t.see(t.error(await a.setData('/q', '12345', 9)), t.error(await a.setData('/q', '1', 9)))
        },
        expect: ['QuotaExceeded BadVersion'],
      },
    },
    {
      number: 15,
      since,
      profile,
      text: 'Changed limits apply from the next request on, and a quota ends when its limits are deleted.',
      source: 'ZooKeeperServer.checkQuota, DataTree.deleteNode',
      follows: ['quota/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          const quota = await Quota.set(t, '/q', limits('countHardLimit=1'))
          t.see(t.error(await a.create('/q/a')))
          await quota.change(limits('countHardLimit=2'))
          t.see(t.error(await a.create('/q/a')), t.error(await a.create('/q/b')))
          await quota.end()
          t.see(t.error(await a.create('/q/b')))
        },
        expect: ['QuotaExceeded', 'Ok QuotaExceeded', 'Ok'],
      },
    },
    {
      number: 16,
      since,
      profile,
      text: 'If a part of a multi would exceed a limit, the multi fails like with any other error of a part.',
      source: 'PrepRequestProcessor.pRequest',
      follows: ['quota/8', 'multi/15'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', limits('countHardLimit=1'))
          t.see(t.results(await a.multi(ops.create('/beside'), ops.create('/q/a'))))
          t.see(t.error(await a.exists('/beside')))
        },
        expect: ['Ok [error Ok, error QuotaExceeded]', 'NoNode'],
      },
    },
    {
      number: 17,
      since,
      profile,
      level: 'MAY',
      text: 'The parts of one multi are each compared with what was counted before it, so together they may exceed a limit.',
      source: 'ZooKeeperServer.checkQuota: it reads what the last applied transaction has counted',
      follows: ['quota/8', 'multi/5'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', limits('countHardLimit=2'))
          t.see(t.results(await a.multi(ops.create('/q/a'), ops.create('/q/b'))))
        },
        expect: ['Ok [create /q/a, create /q/b]'],
      },
    },
    {
      number: 18,
      since,
      profile,
      level: 'SHOULD',
      text: 'If the limits cannot be read, `create` and `setData` in the subtree fail with MarshallingError. They stop a server before 3.7.',
      source: 'StatsTrack, ZooKeeperServer.checkQuota',
      needs: ['hostile'],
      follows: ['delete/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await Quota.set(t, '/q', 'count=x')
          t.see(t.error(await a.create('/q/a')), t.error(await a.setData('/q', '1')), t.error(await a.delete('/q', 9)))
        },
        expect: ['MarshallingError MarshallingError BadVersion'],
      },
    },
    {
      number: 19,
      since,
      profile,
      text: 'Of several quotas above a node, only the nearest one counts it and refuses it.',
      source: 'DataTree.getMaxPrefixWithQuota, PathTrie.findMaxPrefix',
      follows: ['quota/8'],
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/q')
          await a.create('/q/a')
          const upper = await Quota.set(t, '/q', limits('countHardLimit=2'))
          const nearest = await Quota.set(t, '/q/a', limits('countHardLimit=2'))
          t.see(t.error(await a.create('/q/a/b')), t.error(await a.create('/q/a/c')), t.error(await a.create('/q/d')))
          t.see(await upper.stats(), await nearest.stats())
        },
        expect: ['Ok QuotaExceeded QuotaExceeded', "'count=2,bytes=0' 'count=2,bytes=0'"],
      },
    },
  ],
}

/** The quota of a node of the trial. When the trial is over, it is removed with everything else. */
class Quota {
  readonly #t: Trial
  /** A session that sees all nodes. */
  readonly #session: Session
  readonly #limits: string
  readonly #stats: string

  static async set(t: Trial, path: string, limits: string): Promise<Quota> {
    const session = await t.open({ isBelowRoot: false })
    const names = `${t.scenario.root}${path}`.split('/').slice(1)
    let parent = '/zookeeper/quota'
    for (const name of names) await session.create((parent += `/${name}`))
    const quota = new Quota(t, session, parent)
    await session.create(quota.#limits, { data: limits })
    await session.create(quota.#stats)
    return quota
  }

  private constructor(t: Trial, session: Session, parent: string) {
    this.#t = t
    this.#session = session
    this.#limits = `${parent}/zookeeper_limits`
    this.#stats = `${parent}/zookeeper_stats`
  }

  async stats(): Promise<string> {
    return this.#t.data(await this.#session.getData(this.#stats))
  }

  async change(limits: string): Promise<void> {
    await this.#session.setData(this.#limits, limits)
  }

  async end(): Promise<void> {
    await this.#session.delete(this.#limits)
  }

  async watch(): Promise<void> {
    await this.#session.getData(this.#stats, true)
  }

  /** What of `zookeeper_stats` has changed beside its data. */
  async changes(): Promise<readonly string[]> {
    const stat = this.#t.statOf(await this.#session.exists(this.#stats))
    const events = await this.#t.events(this.#session)
    return [`version ${stat?.version}`, `mzxid = czxid ${stat?.mzxid === stat?.czxid}`, `events ${events.length}`]
  }
}

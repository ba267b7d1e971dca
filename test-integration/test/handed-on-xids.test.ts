// A session is detached while one of its writes is in progress. The next client of the session has a request waiting when
// that write is committed at last.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type DetachedSession, type SessionCredentials, type ZooKeeper } from '@zk/client'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { LinkedEnsemble } from '../src/links/linked-ensemble.ts'

const TICK = 500
const T = 8 * TICK
/** After a `sync` of the first client, xids of the next one begin at 1. */
const LARGEST_XID = 2 ** 31 - 1

describe.skipIf(inject('ensembles') === undefined)(
  'A write that is committed after its session was resumed by another client',
  () => {
    let linked: LinkedEnsemble

    beforeAll(async () => {
      // A large syncLimit: a stalled link is not given up.
      linked = await LinkedEnsemble.start({ tickTime: TICK, environment: { ZOO_SYNC_LIMIT: '30' } })
    })
    afterEach(() => linked?.mend())
    afterAll(() => linked?.[Symbol.asyncDispose]())

    test('ZooKeeper.sync of the next client is answered by the leader only', async () => {
      const { events, isConnectionKept } = await play('/behind', (session) => session)
      expect(events).toEqual(['committed', 'released', 'synced'])
      expect(isConnectionKept).toBe(true)
    })

    test('A follower answers a sync with the earlier write if both have the same xid: so a session hands over its lastXid', async () => {
      const { events, isConnectionKept } = await play('/anew', ({ id, passwd }) => ({
        id,
        passwd,
        lastXid: LARGEST_XID,
      }))
      expect(events).toEqual(['synced', 'committed', 'released'])
      // The leader's answer comes later and belongs to no request.
      expect(isConnectionKept).toBe(false)
    })

    async function play(path: string, credentials: (session: DetachedSession) => SessionCredentials) {
      const { ensemble, links } = linked
      const leader = await ensemble.leader()
      const [follower, third] = await ensemble.followers()
      const first = await connect(leader.address, { sessionTimeout: T })
      await using bystander = await connect(follower!.address, { sessionTimeout: 10 * T })
      const { changed } = await bystander.existsAndWatch(path)

      // Now nothing is committed: one follower receives no proposal, the acknowledgement of the other is held.
      links.hold(leader, follower!)
      links.hold(third!, leader)
      const writing = first.create(path).catch(() => {})
      const session = await first.detach()
      await writing

      // The leader learns of the next client, but receives none of its requests.
      const connecting = connect(follower!.address, { session: credentials(session), sessionTimeout: T })
      await sleep(TICK)
      links.hold(follower!, leader)
      links.release(leader, follower!)
      await using next = await connecting
      const { connection } = next.session
      const events: string[] = []
      const syncing = next.sync('/').then(() => events.push('synced'))
      await roundTrips(bystander)
      links.release(third!, leader)
      await changed
      await roundTrips(bystander)
      events.push('committed', 'released')
      links.release(follower!, leader)
      await syncing
      await next.sync('/')
      return { events, isConnectionKept: next.session.connection === connection }
    }

    async function roundTrips(zk: ZooKeeper): Promise<void> {
      for (let times = 0; times < 20; times++) await zk.exists('/')
    }
  },
)

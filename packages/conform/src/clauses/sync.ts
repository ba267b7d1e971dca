import { Perms } from '@zk/wire'
import type { Session } from '../play/index.ts'
import type { Chapter } from './clause.ts'
import type { Trial } from './trial.ts'

export const sync: Chapter = {
  name: 'sync',
  title: 'sync',
  introduction:
    'A read may be answered by a follower that has not yet applied the last transactions. `sync` lets it catch up: when it is answered, ' +
    'the server has applied everything that the leader had committed when it received the `sync`. The path in the request has no meaning.',
  clauses: [
    {
      number: 1,
      text: '`sync` is answered with the path of the request.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a')
          for (const path of ['/', '/a']) t.see(t.path(await a.sync(path)))
        },
        expect: ['/', '/a'],
      },
    },
    {
      number: 2,
      text: 'The node does not need to exist.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          t.see(t.error(await a.sync('/missing')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 3,
      profile: 'full',
      text: 'The path is not checked: it may be invalid, empty or null.',
      source: 'FinalRequestProcessor.processRequest',
      follows: ['sync/2'],
      check: {
        play: async (t) => {
          const a = await t.open()
          for (const path of ['a', '/a/', '/.', '', null]) t.see(path ?? 'null', t.error(await a.sync(path)))
        },
        expect: ['a Ok', '/a/ Ok', '/. Ok', ' Ok', 'null Ok'],
      },
    },
    {
      number: 4,
      text: '`sync` asks for no permission.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          await a.create('/a', { acl: [{ perms: Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } }] })
          t.see(t.error(await a.sync('/a')))
        },
        expect: ['Ok'],
      },
    },
    {
      number: 5,
      profile: 'full',
      text: '`sync` is no transaction: it takes no zxid.',
      source: 'PrepRequestProcessor.pRequestHelper',
      check: {
        play: async (t) => {
          const a = await t.open()
          // Another client may write in between, but not each time.
          let least = await zxidsAcrossSync(t, a, '/0')
          for (let i = 1; i < 10 && least > 1n; i++) {
            const next = await zxidsAcrossSync(t, a, `/${i}`)
            if (next < least) least = next
          }
          t.see(least)
        },
        expect: ['1'],
      },
    },
    {
      number: 6,
      text: 'The reply to a `sync` keeps its place among the replies to the other requests of its connection.',
      source: 'CommitProcessor.run',
      check: {
        play: async (t) => {
          const a = await t.open()
          const order: string[] = []
          await a.create('/a', { data: '0' })
          await Promise.all([
            a.setData('/a', '1').then(() => order.push('setData')),
            a.sync('/a').then(() => order.push('sync')),
            a.getData('/a').then((reply) => order.push(t.data(reply))),
            a.sync('/a').then(() => order.push('sync')),
            a.setData('/a', '2').then(() => order.push('setData')),
            a.exists('/a').then(() => order.push('exists')),
          ])
          t.see(...order)
        },
        expect: ["setData sync '1' sync setData exists"],
      },
    },
    {
      number: 7,
      text: 'After a `sync`, a session at a follower reads what another session had written before at the leader.',
      source: 'LearnerHandler, Leader.processSync, FollowerZooKeeperServer.sync',
      needs: ['ensemble'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open({ at: 'follower' })
          await a.create('/a', { data: '0' })
          let stale = 0
          for (let i = 1; i <= 20; i++) {
            await a.setData('/a', `${i}`)
            await b.sync('/a')
            if (t.data(await b.getData('/a')) !== `'${i}'`) stale++
          }
          t.see('stale', stale)
        },
        expect: ['stale 0'],
      },
    },
    {
      number: 8,
      text: 'A `sync` and the read that follows it may be sent at once: the read is answered after the `sync`.',
      source: 'CommitProcessor.run',
      needs: ['ensemble'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open({ at: 'follower' })
          await a.create('/a', { data: '0' })
          let stale = 0
          for (let i = 1; i <= 20; i++) {
            await a.setData('/a', `${i}`)
            const [, reply] = await Promise.all([b.sync('/a'), b.getData('/a')])
            if (t.data(reply) !== `'${i}'`) stale++
          }
          t.see('stale', stale)
        },
        expect: ['stale 0'],
      },
    },
  ],
}

/** How far the zxids of two creates with three syncs between them are apart. */
async function zxidsAcrossSync(t: Trial, session: Session, path: string): Promise<bigint> {
  const before = t.statOf(await session.create(path, { op: 'create2' }))
  for (let i = 0; i < 3; i++) await session.sync(path)
  const after = t.statOf(await session.create(`${path}/a`, { op: 'create2' }))
  return (after?.czxid ?? 0n) - (before?.czxid ?? 0n)
}

import { OpCode } from '@zk/wire'
import type { Connection } from '../play/index.ts'
import type { Chapter } from './clause.ts'

export const order: Chapter = {
  name: 'order',
  title: 'Order, xids and zxids',
  introduction:
    'A client numbers its requests by xids. All changes, of all clients, are transactions in one order, and are numbered by ' +
    'zxids: the upper 32 bits count the leaders, and the lower 32 bits the transactions of one leader. Each reply has the xid of ' +
    'its request, and the zxid of the last transaction that the server has applied. Replies and events come over one connection, ' +
    'and their order on it is the order in which things happened. (The chapter on watches has the clauses about events.)',
  clauses: [
    {
      number: 1,
      text: 'The requests of a connection are answered in the order in which they were sent, reads and writes alike.',
      source: 'CommitProcessor, FinalRequestProcessor',
      follows: ['watches/16'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await Promise.all([
            a.create('/n'),
            a.getData('/n'),
            a.setData('/n', '1'),
            a.exists('/none'),
            a.delete('/n', 7),
            a.getChildren('/'),
          ])
          t.see(xids(a.connection))
        },
        expect: ['1 2 3 4 5 6'],
      },
    },
    {
      number: 2,
      level: 'SHOULD',
      profile: 'full',
      text: 'A reply has the xid of its request. The client may choose any numbers, also equal or negative ones, but those with a meaning: -1, -2, -4 and -8.',
      source: 'FinalRequestProcessor.processRequest (request.cxid), ClientCnxn',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const chosen = [0, 5, 5, 3, -3, 2 ** 31 - 1, -(2 ** 31)]
          for (const xid of chosen) void a.call('exists', { path: '/none', watch: false }, { xid })
          await a.fence()
          t.see(...a.connection.headers.slice(0, chosen.length).map(({ xid }) => xid))
        },
        expect: ['0 5 5 3 -3 2147483647 -2147483648'],
      },
    },
    {
      number: 3,
      text: 'A ping, sent with the xid -2, is answered with the xid -2.',
      source: 'FinalRequestProcessor.processRequest (ping), ClientCnxn.PING_XID',
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          t.see((await t.within(a.ping())) ? xids(a.connection) : 'no answer')
        },
        expect: ['-2'],
      },
    },
    {
      number: 4,
      level: 'SHOULD',
      profile: 'full',
      text: 'The reply to a ping has the xid -2 even if the ping had another one.',
      source: 'FinalRequestProcessor.processRequest (ping)',
      follows: ['order/3'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          void a.callRaw(OpCode.ping, new Uint8Array(), { xid: 77 })
          await a.exists('/none')
          t.see(a.connection.headers[0]?.xid ?? 'no answer')
        },
        expect: ['-2'],
      },
    },
    {
      number: 5,
      level: 'MAY',
      profile: 'full',
      text: '`auth` is answered at once, even before earlier writes whose replies are still due.',
      source: 'ZooKeeperServer.processPacket',
      check: { unchecked: 'Which of the two is first depends on how long the write takes.' },
    },
    {
      number: 6,
      text: 'Requests may be sent without waiting for replies. They are executed one after the other: each sees what the earlier ones have done.',
      source: 'PrepRequestProcessor.outstandingChanges, CommitProcessor',
      follows: ['delete/7'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const replies = await Promise.all([
            a.create('/p'),
            a.create('/p/c'),
            a.delete('/p'),
            a.delete('/p/c'),
            a.delete('/p'),
            a.exists('/p'),
          ])
          t.see(...replies.map((reply) => t.error(reply)))
        },
        expect: ['Ok Ok NotEmpty Ok Ok NoNode'],
      },
    },
    {
      number: 7,
      text: 'A read sees the writes that were sent before it on the same connection, even if they are not answered yet.',
      source: 'CommitProcessor.run, which holds reads back until the writes before them are committed',
      check: {
        play: async (t) => {
          const a = await t.open()
          const [, , read] = await Promise.all([a.create('/n'), a.setData('/n', 'new'), a.getData('/n')])
          t.see(t.data(read))
        },
        expect: [`'new'`],
      },
    },
    {
      number: 8,
      text: 'A request that fails does not keep later requests of the same connection from being executed.',
      source: 'PrepRequestProcessor.pRequest, rollbackPendingChanges',
      check: {
        play: async (t) => {
          const a = await t.open()
          const [failed, created] = await Promise.all([a.create('/none/n'), a.create('/n')])
          t.see(t.error(failed), t.error(created))
        },
        expect: ['NoNode Ok'],
      },
    },
    {
      number: 9,
      profile: 'full',
      text: 'However many requests a client has sent without waiting, all are answered. A server that has too many stops reading for a while.',
      source: 'ServerCnxn.incrOutstandingAndCheckThrottle, zookeeper.globalOutstandingLimit (1,000)',
      follows: ['order/1'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const replies = await Promise.all(
            Array.from({ length: 2_500 }, (_, index) =>
              index % 250 === 0 ? a.create(`/${index}`) : a.exists('/none'),
            ),
          )
          const answered = replies.filter((reply) => reply !== undefined).length
          const isInOrder = a.connection.headers.every(({ xid }, index) => xid === index + 1)
          t.see(`${answered} answers`, isInOrder ? 'in order' : 'out of order')
        },
        expect: ['2500 answers in order'],
      },
    },
    {
      number: 10,
      profile: 'full',
      text: 'A ping keeps its place, too: it is answered after the writes that were sent before it.',
      source: 'CommitProcessor',
      follows: ['order/1', 'order/3'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await Promise.all([a.create('/n'), a.ping(), a.getData('/n')])
          t.see(xids(a.connection))
        },
        expect: ['1 -2 2'],
      },
    },
    {
      number: 11,
      text: 'The reply to a write has the zxid of its transaction, which the Stat of the node shows, too.',
      source: 'FinalRequestProcessor.processRequest, DataTree.createNode',
      follows: ['stat/1', 'stat/3'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const created = await a.create('/n')
          const changed = await a.setData('/n', '1')
          const stat = t.statOf(await a.exists('/n'))
          t.see(stat?.czxid === created?.zxid ? 'czxid' : `czxid ${stat?.czxid}, zxid ${created?.zxid}`)
          t.see(stat?.mzxid === changed?.zxid ? 'mzxid' : `mzxid ${stat?.mzxid}, zxid ${changed?.zxid}`)
        },
        expect: ['czxid', 'mzxid'],
      },
    },
    {
      number: 12,
      text: 'The transactions of all sessions are in one order: a later one has a higher zxid.',
      source: 'ZooKeeperServer.getNextZxid, Leader.propose',
      follows: ['order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          const zxids: bigint[] = []
          for (const session of [a, b, a, b]) zxids.push((await session.create(`/${zxids.length}`))?.zxid ?? -1n)
          const isRising = zxids.every((zxid, index) => index === 0 || zxid > zxids[index - 1]!)
          t.see(isRising ? 'rising' : zxids.join(' '))
        },
        expect: ['rising'],
      },
    },
    {
      number: 13,
      text: 'The reply to a read has the zxid of the last transaction that the server has applied.',
      source: 'FinalRequestProcessor.processRequest (getDataTreeLastProcessedZxid)',
      follows: ['order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const b = await t.open()
          const written = await b.create('/n')
          t.see(atLeast(await a.exists('/none'), written))
        },
        expect: ['at least that of the write'],
      },
    },
    {
      number: 14,
      profile: 'full',
      text: 'The reply to a ping, too, has the zxid of the last transaction that the server has applied.',
      source: 'FinalRequestProcessor.processRequest (ping)',
      follows: ['order/3', 'order/11', 'order/13'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const b = await t.open()
          const written = await b.create('/n')
          t.see(atLeast(await a.ping(), written))
        },
        expect: ['at least that of the write'],
      },
    },
    {
      number: 15,
      profile: 'full',
      text: 'A read is not a transaction: it uses up no zxid.',
      source: 'FinalRequestProcessor.processRequest',
      check: {
        play: async (t) => {
          const a = await t.open()
          // Other clients may cause transactions at the same time, but hardly ten times.
          for (let attempt = 0; attempt < 10; attempt++) {
            const replies = [await a.exists('/'), await a.getData('/none'), await a.exists('/')]
            if (new Set(replies.map((reply) => reply?.zxid)).size === 1) return t.see('the same zxid')
          }
          t.see('other zxids')
        },
        expect: ['the same zxid'],
      },
    },
    {
      number: 16,
      level: 'SHOULD',
      profile: 'full',
      text: 'A write that fails is a transaction nevertheless, without effect: its reply has a zxid of its own.',
      source: 'PrepRequestProcessor.pRequest (OpCode.error), ErrorTxn',
      follows: ['order/11'],
      check: {
        play: async (t) => {
          const a = await t.open()
          const before = await a.create('/n')
          const failed = await a.create('/n')
          t.see(t.error(failed), failed!.zxid > before!.zxid ? 'with a zxid of its own' : 'with the last zxid')
        },
        expect: ['NodeExists with a zxid of its own'],
      },
    },
    {
      number: 17,
      text: 'The zxids of the replies on a connection never fall.',
      source: 'DataTree.lastProcessedZxid',
      follows: ['order/13', 'order/14', 'order/11', 'order/1'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          const b = await t.open()
          await Promise.all([
            a.create('/n'),
            b.create('/m'),
            a.ping(),
            a.setData('/n'),
            a.delete('/none'),
            b.delete('/m'),
          ])
          await Promise.all([a.exists('/m'), a.multi(), a.sync('/'), a.getData('/none'), b.setData('/n'), a.ping()])
          const zxids = a.connection.headers.map(({ zxid }) => zxid)
          t.see(
            zxids.every((zxid, index) => index === 0 || zxid >= zxids[index - 1]!) ? 'never lower' : zxids.join(' '),
          )
        },
        expect: ['never lower'],
      },
    },
    {
      number: 18,
      text: 'An event has the xid -1 and the error code 0.',
      source: 'NIOServerCnxn.process, ClientCnxn.NOTIFICATION_XID',
      follows: ['watches/3', 'watches/26'],
      check: {
        play: async (t) => {
          const a = await t.open({ pings: false })
          await a.exists('/n', true)
          await a.create('/n')
          await a.fence()
          const { xid, err } = a.connection.headers[1] ?? {}
          t.see(`xid ${xid} err ${err}`)
        },
        expect: ['xid -1 err 0'],
      },
    },
    {
      number: 19,
      level: 'MAY',
      profile: 'extended',
      text: 'A server that limits its requests (`zookeeper.request_throttle_max_requests`) may answer a request that has waited for too long with `ThrottledOp`, without executing it. The client may send it again.',
      source: 'RequestThrottler, FinalRequestProcessor (ZOOKEEPER-3683)',
      since: '3.7',
      check: { unchecked: 'It needs a server with these settings, and so many requests that it is slow.' },
    },
    {
      number: 20,
      level: 'MAY',
      profile: 'full',
      text: 'A read at a server that is not the leader may show an older state than a write that was already answered to another client. `sync` before the read prevents that.',
      source: 'FollowerZooKeeperServer, which answers reads from its own tree',
      check: { unchecked: 'It needs a server that is behind the leader. See the clauses of `sync`.' },
    },
    {
      number: 21,
      profile: 'full',
      needs: ['ensemble', 'control'],
      text: 'With each leader the upper 32 bits of the zxid grow, and the lower 32 begin again.',
      source: 'ZxidUtils, Leader.lead (getEpochToPropose)',
      follows: ['sessions/16', 'sessions/23'],
      check: {
        play: async (t) => {
          const a = await t.open({ at: 'follower', timeOut: 20_000 })
          const before = (await a.create('/n'))?.zxid ?? 0n
          await t.scenario.stage.kill('leader')
          await t.fate(a.connection, 20_000)
          await t.scenario.stage.elected()
          const again = await t.scenario.resume(a, { at: 'follower', timeOut: 20_000 })
          const after = (await again.setData('/n'))?.zxid ?? 0n
          t.see(after >> 32n > before >> 32n ? 'a higher epoch' : 'the same epoch')
        },
        expect: ['a higher epoch'],
      },
    },
  ],
}

/** The xids of all frames after the handshake, in the order in which they came. */
function xids({ headers }: Connection): string {
  return headers.map(({ xid }) => xid).join(' ')
}

/** Compares the zxid of a reply with that of an earlier write. */
function atLeast(reply: Header | undefined, written: Header | undefined): string {
  if (reply === undefined || written === undefined) return 'no answer'
  return reply.zxid >= written.zxid ? 'at least that of the write' : `${reply.zxid}, below ${written.zxid}`
}

interface Header {
  readonly zxid: bigint
}

// What happens to a client while it runs. Each step waits for what the history shows, not for a time that may be enough.
import type { FaultOp } from '@zk/testing'
import type { Play } from './play.ts'

export interface Situation {
  readonly name: string
  /** What the servers do. */
  readonly text: string
  /** The longest session timeout that the servers grant, in ms. @default longer than the client wishes */
  readonly maxSessionTimeout?: number
  /** Whether only a client that is told what to do can be in it. */
  readonly isActive?: boolean
  /** Whether an active client writes and reads all the time. */
  readonly isBusy?: boolean
  readonly play: (play: Play) => Promise<void>
}

const WRITES: readonly FaultOp[] = ['create', 'setData', 'delete', 'multi']
/** What any program sends. */
const ANY: readonly FaultOp[] = [...WRITES, 'ping', 'getData', 'getChildren', 'getChildren2', 'exists', 'sync']

/** A whole reply with an xid that no request has, and no zxid. */
const WRONG_XID = Uint8Array.of(0, 0, 0, 16, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

export const situations: readonly Situation[] = [
  {
    name: 'calm',
    text: 'nothing happens for two session timeouts',
    play: (play) => play.elapse(2 * play.timeout),
  },
  {
    name: 'short grant',
    text: 'the servers grant a third of the usual session timeout',
    maxSessionTimeout: 1_000,
    play: (play) => play.elapse(3 * play.timeout),
  },
  {
    name: 'server dies',
    text: 'the server of the client dies',
    play: async (play) => {
      const { member } = play.connection
      play.ensemble.members.find(({ name }) => name === member)!.kill()
      await play.back()
    },
  },
  {
    name: 'reconfig',
    text: 'a reconfig removes the server of the client from the ensemble, and the server ends',
    play: async (play) => {
      await play.remove(play.connection.member)
      await play.back()
    },
  },
  {
    name: 'lost reply',
    text: 'a reply is lost together with the connection',
    play: async (play) => {
      await play.struck(play.ensemble.faults.loseReply({ op: [...ANY] }))
      await play.back()
    },
  },
  {
    name: 'lost write',
    text: 'the reply to a write is lost together with the connection',
    isActive: true,
    isBusy: true,
    play: async (play) => {
      await play.struck(play.ensemble.faults.loseReply({ op: [...WRITES] }))
      await play.back()
    },
  },
  {
    name: 'pieces',
    text: 'replies come in two pieces',
    isBusy: true,
    play: async (play) => {
      await play.struck(play.ensemble.faults.split({ op: [...ANY], at: 2, times: 3 }), 3)
      await play.elapse(play.timeout / 3)
    },
  },
  {
    name: 'together',
    text: 'two replies come in one piece',
    isBusy: true,
    play: async (play) => {
      await play.struck(play.ensemble.faults.merge({ op: [...ANY], ms: 100, times: 3 }), 3)
      await play.elapse(play.timeout / 3)
    },
  },
  {
    name: 'silence',
    text: 'the server of the client falls silent, and the connection stays open',
    play: async (play) => {
      const { id } = play.connection
      play.connection.halfOpen('replies')
      await play.until(() => play.isClosed(id), 1.5 * play.timeout)
      await play.back()
    },
  },
  {
    name: 'expiry',
    text: 'the session expires while the client is connected',
    play: async (play) => {
      play.ensemble.sessions.expire(play.connection.session)
      await play.back()
    },
  },
  {
    name: 'expiry in an outage',
    text: 'the session expires while no server accepts the client',
    play: async (play) => {
      const { session } = play.connection
      await play.outage(async () => {
        play.connection.end()
        play.ensemble.sessions.expire(session)
        await play.elapse(play.timeout / 4)
      })
      await play.back()
    },
  },
  {
    name: 'another session',
    text: 'a server answers the resume of a session with another session',
    play: async (play) => {
      const rule = play.ensemble.faults.replaceSession()
      play.connection.end()
      await play.struck(rule)
      await play.back()
      // Now it shows which session the client has kept.
      play.established?.end()
      await play.back()
    },
  },
  {
    name: 'gap',
    text: 'watched nodes change while the client is away',
    isActive: true,
    play: async (play) => {
      await play.outage(async () => {
        play.connection.end()
        play.ensemble.nodes.setData('/conform/data', 'changed')
        play.ensemble.nodes.create('/conform/absent')
        await play.elapse(play.timeout / 6)
      })
      await play.back()
    },
  },
  {
    name: 'behind',
    text: 'the first server to which the client turns is behind what it has seen',
    isBusy: true,
    play: async (play) => {
      const { member } = play.connection
      const late = play.ensemble.members.find(({ name, role }) => name !== member && role === 'follower')
      late?.lag(Infinity)
      play.ensemble.nodes.create('/newer')
      await play.elapse(play.timeout / 3)
      const others = play.ensemble.members.filter((each) => each !== late)
      for (const each of others) each.refuse()
      play.connection.end()
      const refused = () =>
        play
          .log()
          .connections.some(
            ({ member: at, answer, handshake }) => at === late?.name && handshake !== undefined && answer === undefined,
          )
      play.begin('outage')
      await play.until(refused, play.timeout / 2)
      for (const each of others) each.accept()
      play.endOutage()
      await play.back()
      late?.catchUp()
    },
  },
  {
    name: 'all down',
    text: 'all servers die, and come back',
    play: async (play) => {
      play.begin('outage')
      for (const member of play.ensemble.members) member.kill()
      await play.elapse(play.timeout / 4)
      for (const member of play.ensemble.members) member.restart()
      await play.until(() => play.ensemble.leader !== undefined, play.timeout)
      await play.elapse(300)
      play.endOutage()
      await play.back()
    },
  },
  {
    name: 'refusals',
    text: 'every server closes the connection without an answer to the handshake, for half a session timeout',
    play: async (play) => {
      const rule = play.ensemble.faults.loseRequest({ op: 'connect', times: Infinity })
      play.begin('refusals')
      play.connection.end()
      await play.elapse(play.timeout / 2)
      rule.remove()
      play.endOutage()
      await play.back()
    },
  },
  {
    name: 'full queue',
    text: 'a server accepts the connection, and leaves the handshake in its queue',
    play: async (play) => {
      const rule = play.ensemble.faults.loseRequest({ op: 'connect', connection: 'open' })
      play.connection.end()
      await play.struck(rule)
      const waiting = play.log().connections.findLast(({ handshake }) => handshake?.fault === 'loseRequest')
      if (waiting !== undefined) await play.until(() => play.isClosed(waiting.number), 1.5 * play.timeout)
      await play.back()
    },
  },
  {
    name: 'impossible length',
    text: 'a server sends a frame with a negative length',
    play: async (play) => {
      play.begin('length')
      await play.struck(play.ensemble.faults.garbage({ op: [...ANY] }))
      await play.back()
    },
  },
  {
    name: 'wrong xid',
    text: 'a server sends a reply with an xid that no request has',
    play: async (play) => {
      play.begin('xid')
      await play.struck(play.ensemble.faults.garbage({ op: [...ANY], bytes: WRONG_XID }))
      await play.back()
    },
  },
  {
    name: 'moved',
    text: 'the leader takes the session to be at another server',
    isActive: true,
    isBusy: true,
    play: async (play) => {
      const { id, member, session } = play.connection
      play.ensemble.sessions.move(
        session,
        play.ensemble.members.find(({ name }) => name !== member)!,
      )
      await play.until(() => play.isClosed(id), play.timeout)
      await play.back()
    },
  },
]

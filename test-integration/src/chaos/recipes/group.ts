import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchIterator } from '@zk/client'
import { Group, KeeperError, type Member, type Membership, LostError, WaitTimeoutError } from '@zk/recipes'
import { machineTime, type Note } from '../../history/index.ts'
import { insist } from '../insist.ts'
import { countsOf, type Recipe, sinceOf } from '../recipe.ts'

interface Step extends Note {
  readonly what: 'writing' | 'written' | 'unknown' | 'taken' | 'lost' | 'left' | 'went back'
  readonly member: string
  /** The number in the data. Later data has a greater one. */
  readonly number?: number
  /** The transaction that made the node. */
  readonly czxid?: string
}

/** The members that a list had which was asked for at `from`. */
interface Look extends Note {
  readonly what: 'listed'
  readonly from: number
  readonly members: readonly Seen[]
}

interface Seen {
  readonly member: string
  readonly number: number
  readonly czxid: string
}

/** A node that certainly existed from `from` to `to`. */
interface Life {
  readonly member: string
  readonly czxid: string
  readonly from: number
  to: number
}

/** How many times a member writes its data before it leaves. */
const WRITES = 4

/** The members of a process have the name of the dead ones at its place. Each waits until the list shows what it has written. */
export const group: Recipe<Step | Look> = {
  name: 'group',
  weakAfter: 'written',
  keeps: [''],
  contenders({ zk, path, slot, turn, over }, log) {
    const group = new Group(zk, path)
    const member = `member-${slot}`
    const live = new LiveList(group, over)

    /** undefined if it is not known to be written. */
    const write = async (contender: string, me: Membership | undefined, number: number) => {
      log({ contender, member, what: 'writing', number })
      try {
        if (me === undefined) return await group.join({ name: member, data: String(number) })
        await me.update(String(number))
        return me
      } catch (error) {
        if (!KeeperError.is(error) && !LostError.is(error) && !WaitTimeoutError.is(error)) throw error
        log({ contender, member, what: WaitTimeoutError.is(error) ? 'taken' : 'unknown', number })
        return undefined
      }
    }
    const look = async (contender: string) => {
      const from = machineTime()
      const members = (await insist(zk, (options) => group.members(options))) ?? []
      log({ contender, what: 'listed', from, members: members.map(seen) })
    }
    const leave = async (contender: string, me: Membership) => {
      const { session } = zk
      const { state } = me
      try {
        await me.release()
        // The session lives, so the node is gone for sure.
        await zk.exists('/', { session })
        if (state.name === 'present') log({ contender, member, what: 'left', czxid: String(state.czxid) })
      } catch (error) {
        if (!KeeperError.is(error)) throw error
      }
    }

    const visit = async (contender: string) => {
      let me: Membership | undefined
      for (let writes = 0; writes < WRITES; writes++) {
        const number = machineTime()
        const isWritten = await write(contender, me, number)
        me ??= isWritten
        if (me === undefined) return
        if (me.signal.aborted) return log({ contender, member, what: 'lost' })
        const { state } = me
        if (isWritten !== undefined && state.name === 'present') {
          log({ contender, member, what: 'written', number, czxid: String(state.czxid) })
        }
        await live.shows(member, number, me.signal)
        for (const each of live.wentBack.splice(0)) log({ contender, what: 'went back', ...each })
        await look(contender)
        await sleep(Math.random() * turn)
      }
      await leave(contender, me!)
    }
    return { member: visit }
  },
  judge(notes) {
    const looks = notes.filter((note) => note.what === 'listed')
    const steps = notes.filter((note) => note.what !== 'listed')
    const written = steps.filter(({ what }) => what === 'written')
    const usual = new Set<Step['what']>(['writing', 'written', 'left'])
    const since = sinceOf(steps, 'writing')
    const waits = written.map((step) => step.at - since.get(step)!)
    return {
      done: written.length,
      unit: 'joins and updates',
      counts: { lists: looks.length, ...countsOf(steps.map(({ what }) => what).filter((what) => !usual.has(what))) },
      worst: { wait: waits.reduce((one, other) => Math.max(one, other), 0) },
      violations: [
        ...steps
          .filter(({ what }) => what === 'went back')
          .map(({ contender, member, at }) => `the list of ${contender} went back to an older ${member} at ${at}`),
        ...missing(looks, livesOf(written, since)),
        ...old(looks, steps),
      ],
    }
  },
}

/** The list that one process watches as long as it lives. */
class LiveList {
  /** The members that were older than in an earlier list. */
  readonly wentBack: Pick<Step, 'member' | 'czxid'>[] = []
  readonly #lists: WatchIterator<readonly Member[]>
  readonly #newest = new Map<string, Member>()
  #members: readonly Member[] = []
  #next: Promise<IteratorResult<readonly Member[], undefined>> | undefined

  constructor(group: Group, over: AbortSignal) {
    this.#lists = group.watchMembers({ signal: over })
  }

  /** Waits until it shows this number or a later one. It ends without that where one of the signals aborts. */
  async shows(name: string, number: number, ended: AbortSignal): Promise<void> {
    const aborted = new Promise<undefined>((resolve) => {
      ended.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    while (!this.#members.some((member) => member.name === name && numberOf(member) >= number)) {
      this.#next ??= this.#lists.next()
      const next = await Promise.race([this.#next, aborted])
      if (next === undefined || next.done === true) return
      this.#next = undefined
      this.#compare(next.value)
      this.#members = next.value
    }
  }

  #compare(members: readonly Member[]): void {
    for (const member of members) {
      const { name, czxid, mzxid } = member
      const before = this.#newest.get(name)
      if (before !== undefined && (before.czxid > czxid || before.mzxid > mzxid)) {
        this.wentBack.push({ member: name, czxid: String(czxid) })
      }
      this.#newest.set(name, member)
    }
  }
}

function numberOf({ text }: Member): number {
  return Number(text)
}

function seen(member: Member): Seen {
  return { member: member.name, number: numberOf(member), czxid: String(member.czxid) }
}

/**
 * A write shows that its node existed at some moment from its call to its answer. So the node existed from the first answer that
 * names it to the last call that was answered so.
 */
function livesOf(written: readonly Step[], since: ReadonlyMap<Step, number>): Life[] {
  const lives = new Map<string, Life>()
  for (const step of written) {
    const { member, at } = step
    const czxid = step.czxid!
    const life = lives.get(czxid)
    if (life === undefined) lives.set(czxid, { member, czxid, from: at, to: -Infinity })
    else life.to = since.get(step)!
  }
  return [...lives.values()]
}

/** The lists without a member that was there throughout. */
function missing(looks: readonly Look[], lives: readonly Life[]): string[] {
  return looks.flatMap(({ contender, from, at, members }) => {
    const certain = lives.filter((life) => life.from <= from && life.to >= at)
    return certain
      .filter(({ czxid }) => !members.some((each) => each.czxid === czxid))
      .map(
        ({ member, czxid }) => `${contender} listed no ${member} of ${czxid}, ${from.toFixed(1)} to ${at.toFixed(1)}`,
      )
  })
}

/** The lists with a member that had left before, or with data that is older than what was written before, or was never written. */
function old(looks: readonly Look[], steps: readonly Step[]): string[] {
  const left = new Map(steps.filter(({ what }) => what === 'left').map(({ czxid, at }) => [czxid, at]))
  const written = steps.filter(({ what }) => what === 'written')
  const writing = new Map(steps.filter(({ what }) => what === 'writing').map((step) => [step.number, step]))
  return looks.flatMap(({ contender, from, at, members }) =>
    members.flatMap(({ member, number, czxid }) => {
      const where = `${contender}, ${from.toFixed(1)} to ${at.toFixed(1)}, listed ${member} of ${czxid}`
      const before = written.findLast((step) => step.member === member && step.at < from)
      const source = writing.get(number)
      return [
        ...((left.get(czxid) ?? Infinity) < from ? [`${where}, which had left`] : []),
        ...((before?.number ?? 0) > number ? [`${where} with ${number}, which is older than ${before!.number}`] : []),
        ...(source?.member === member && source.at < at ? [] : [`${where} with ${number}, which was not written`]),
      ]
    }),
  )
}

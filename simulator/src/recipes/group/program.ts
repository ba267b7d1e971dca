// The program of a client with memberships, as a user would write it.
import { KeeperError, type Session } from '@zk/client'
import { Group, type Member, type Membership, LostError, WaitTimeoutError } from '@zk/recipes'
import { abortedAfter } from '../../play/aborted-after.ts'
import { Participant } from '../../play/participant.ts'
import { PATH } from '../../play/paths.ts'
import type { GroupClient, MemberPlan } from './plan.ts'

/** A membership that has not ended. */
export interface Standing {
  readonly membership: Membership
  /** The data that its node must have. */
  readonly text: string
}

export class GroupProgram extends Participant<GroupClient> {
  readonly #standing = new Map<number, Standing>()
  readonly #stopping = new AbortController()
  #observing: Promise<void> = Promise.resolve()
  /** What it saw last; undefined if it does not observe. */
  listed: readonly Member[] | undefined

  get standing(): readonly Standing[] {
    return [...this.#standing.values()]
  }

  get observes(): boolean {
    return this.plan.group.observes !== undefined
  }

  override begin(failed: (error: unknown) => void): readonly Promise<void>[] {
    const { lists, observes } = this.plan.group
    if (observes !== undefined) this.#observing = this.#observe(observes).catch(failed)
    return lists.map((plans) => this.#joinEach(plans))
  }

  /** Ends all its memberships, and stops observing. */
  override async finish(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#standing].map(([id, { membership }]) => this.#leave(id, membership)))
    await this.#observing
  }

  async #observe(work: number): Promise<void> {
    const { client, recorder } = this
    for await (const members of new Group(this.zk!, PATH).watchMembers(this.#stopping)) {
      this.listed = members
      const listed = members.map(({ name, text, czxid, mzxid }) => ({ name, text, czxid, mzxid }))
      recorder.add({ type: 'listed', client, members: listed })
      if (work > 0) await this.pause(work)
    }
  }

  async #joinEach(plans: readonly MemberPlan[]): Promise<void> {
    for (const plan of plans) {
      await this.pause(plan.after)
      const stays = await this.#join(plan)
      if (stays) return
    }
  }

  /** Whether it stays a member. */
  async #join({ name, timeout, abortAfter, updates, leavesAfter }: MemberPlan): Promise<boolean> {
    const { recorder, client } = this
    const id = recorder.newAttempt()
    recorder.add({ type: 'joining', membership: id, client, name })
    const { signal, stop } = abortedAfter(this.runtime, abortAfter)
    let membership: Membership
    try {
      membership = await new Group(this.zk!, PATH).join({ name, data: `${id}.0`, timeout, signal })
    } catch (error) {
      recorder.add({ type: 'notJoined', membership: id, error: String(error) })
      const isExpected =
        (signal.aborted && error === signal.reason) ||
        WaitTimeoutError.is(error) ||
        KeeperError.is(error, 'RequestTimeout')
      if (!isExpected) this.unexpected('join', error)
      return false
    } finally {
      stop()
    }
    recorder.add({ type: 'joined', membership: id })
    this.#follow(id, membership)
    await this.#update(id, membership, updates)
    if (leavesAfter === undefined) return true
    await this.pause(leavesAfter)
    await this.#leave(id, membership)
    return false
  }

  #follow(id: number, membership: Membership): void {
    this.#standing.set(id, { membership, text: `${id}.0` })
    membership.signal.addEventListener('abort', () => {
      this.#standing.delete(id)
      const { code: reason } = membership.signal.reason as LostError
      this.recorder.add({ type: 'memberEnded', membership: id, reason })
    })
  }

  async #update(id: number, membership: Membership, updates: MemberPlan['updates']): Promise<void> {
    const { recorder } = this
    for (const [index, { after, waits }] of updates.entries()) {
      await this.pause(after)
      const update = index + 1
      const text = `${id}.${update}`
      recorder.add({ type: 'updating', membership: id, update })
      if (this.#standing.has(id)) this.#standing.set(id, { membership, text })
      const updating = membership.update(text).then(
        () => recorder.add({ type: 'updated', membership: id, update }),
        (error: unknown) => {
          recorder.add({ type: 'updated', membership: id, update, error: String(error) })
          const isExpected = LostError.is(error) || KeeperError.is(error, 'RequestTimeout')
          if (!isExpected) this.unexpected('update', error)
        },
      )
      if (waits) await updating
    }
  }

  async #leave(id: number, membership: Membership): Promise<void> {
    const { recorder } = this
    const session: Session = this.zk!.session
    const { state } = membership
    // The ensemble may keep the node of a session that the client has given up.
    const wasOver = state.name === 'ended' || (state.name === 'absent' && state.cause === 'SessionExpired')
    recorder.add({ type: 'leaving', membership: id })
    try {
      await membership.release()
      recorder.add({ type: 'hasLeft', membership: id, isSessionOver: session.signal.aborted || wasOver })
    } catch (error) {
      recorder.add({ type: 'hasLeft', membership: id, isSessionOver: false, error: String(error) })
      if (!KeeperError.is(error, 'RequestTimeout')) this.unexpected('leave', error)
    }
  }
}

// The program of a client that uses no recipe. It calls, watches, gives up, and records the results.
import { getEventListeners } from 'node:events'
import {
  type CallOptions,
  connect,
  ConnectError,
  KeeperError,
  type NodeData,
  type PersistentWatchEvent,
  type WatchIterator,
  op,
  type Session,
  type Watched,
  type ZooKeeper,
} from '@zk/client'
import type { CallHappening, Outcome } from '../../history/calls.ts'
import { wiretap } from '../../history/wiretap.ts'
import { followServers } from '../../play/follow-servers.ts'
import { Participant } from '../../play/participant.ts'
import { CALLS, nodeOf, readBy } from '../../play/paths.ts'
import { saslOption } from '../../play/sasl-user.ts'
import { type Call, type CallingClient, type Turn, watchesOnce } from './calls.ts'

/** How many events of a persistent watch are requested ahead, so that none waits until another one is taken. */
const ASKED_AHEAD = 16

const utf8 = new TextDecoder()

export class Caller extends Participant<CallingClient> {
  /** The number of the session, over this client and those before it in its place. The first is 0. */
  #term = -1
  readonly #terms = new Map<Session, number>()
  /** The first session that it ever had. */
  #first: Session | undefined
  readonly #signals: AbortSignal[] = []
  readonly #timers = new Set<() => void>()
  /** The functions that take watches back. */
  readonly #leave = new Map<number, () => void>()

  override async connect(): Promise<void> {
    const { client, runtime, recorder, plan, context } = this
    const { sessionTimeout } = this.scenario
    const { usesSasl = false } = plan
    const { turns: _, hasCredential, ...advanced } = plan.calls
    const { lines, lookUps } = context
    const moment = () => recorder.moment()
    const first = ++this.#term
    // A client that is given up goes on for a while: it closes its session.
    let isGivenUp = false
    this.#note({ type: 'connecting', client, term: this.#term, within: sessionTimeout })
    try {
      this.zk = await connect(context.connectString, {
        runtime: wiretap(runtime, {
          client,
          usesSasl,
          lines,
          lookUps,
          moment,
          term: () => (isGivenUp ? first : this.#term),
        }),
        sessionTimeout,
        connectTimeout: sessionTimeout,
        ...saslOption(usesSasl),
        advanced,
        ...(hasCredential && { auth: [{ scheme: 'digest', auth: `client${client}:secret` }] }),
      })
    } catch (error) {
      isGivenUp = true
      this.#note({ type: 'connected', client, error: String(error) })
      throw error
    }
    this.#note({ type: 'connected', client })
    this.#first ??= this.zk.session
    this.#follow(this.zk)
    if (plan.follows) followServers(this.zk)
  }

  override begin(): readonly Promise<void>[] {
    return [this.#work()]
  }

  override askAll(): void {
    const count = this.#signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0)
    this.#note({ type: 'listeners', client: this.client, count })
  }

  override async close(): Promise<void> {
    const { client } = this
    const { timeout, id } = this.zk!.session
    this.#note({ type: 'closing', client, term: this.#term, within: timeout / 2, session: `0x${id.toString(16)}` })
    await this.zk!.close()
    this.#note({ type: 'closed', client })
  }

  async #work(): Promise<void> {
    const { turns } = this.plan.calls
    const settled: Promise<unknown>[] = []
    for (const [index, turn] of turns.entries()) {
      await this.pause(turn.after)
      if (turn.renews) await this.#renew()
      const calls = this.#take(turn, index)
      settled.push(...calls)
      if (turn.waits) await Promise.all(calls)
    }
    await Promise.all(settled)
    for (const leave of this.#leave.values()) leave()
    for (const cancel of this.#timers) cancel()
  }

  /** Closes the client. Others try to connect in its place until one does. */
  async #renew(): Promise<void> {
    await this.close()
    for (;;) {
      try {
        return await this.connect()
      } catch (error) {
        if (!ConnectError.is(error) && !KeeperError.is(error)) throw error
        await this.pause(1)
      }
    }
  }

  /** Makes the calls of a turn. Each promise resolves when its call has settled. */
  #take({ calls, abortAfter }: Turn, turn: number): Promise<void>[] {
    const { client } = this
    const aborting = new AbortController()
    this.#signals.push(aborting.signal)
    if (abortAfter !== undefined) {
      this.#after(abortAfter, () => {
        this.#note({ type: 'aborts', client, turn })
        aborting.abort(ABORTED)
      })
    }
    return calls.map((call) => {
      const zk = this.zk!
      const session = call.pinned ? this.#first! : zk.session
      const { timeout = session.timeout } = call
      this.#note({ type: 'called', call: call.id, client, term: this.#terms.get(session)!, turn, timeout })
      const options: CallOptions = {
        ...(call.timeout !== undefined && { timeout }),
        ...(call.aborts && { signal: aborting.signal }),
        ...(call.pinned && { session }),
      }
      // All take the same number of microtask turns: so they are recorded in the order in which they settle.
      return this.#call(zk, call, options).then(
        (value) => this.#resolved(call, value),
        (error: unknown) => this.#note({ type: 'settled', call: call.id, outcome: outcomeOf(error) }),
      )
    })
  }

  #call(zk: ZooKeeper, call: Call, options: CallOptions): Promise<unknown> {
    const { id, op: name, on, bytes = 0 } = call
    const own = readBy(call)
    const other = nodeOf(on)
    const data = String(id).padEnd(bytes)
    switch (name) {
      case 'create':
        return zk.create(other, data, options)
      case 'createBelow':
        return zk.create(`${other}/${id}`, data, { mode: 'EPHEMERAL', ...options })
      case 'setData':
        return zk.setData(other, data, options)
      case 'delete':
        return zk.delete(other, options)
      case 'multi':
        return zk.multi([op.check(CALLS), op.setData(other, data)], options)
      case 'getData':
      case 'exists':
      case 'getChildren':
      case 'sync':
      case 'getDataAndWatch':
      case 'existsAndWatch':
      case 'getChildrenAndWatch':
        return zk[name](own, options)
      case 'addAuth':
        return zk.addAuth('digest', `call${id}:secret`, options)
      case 'watch':
        return zk.watch(own, { recursive: true, ...options })
    }
  }

  #resolved(call: Call, value: unknown): void {
    const text = call.op.startsWith('getData') ? utf8.decode((value as NodeData).data).trimEnd() : undefined
    this.#note({ type: 'settled', call: call.id, outcome: { how: 'resolved', ...(text !== undefined && { text }) } })
    if (call.op === 'watch') this.#follows(call, value as WatchIterator<PersistentWatchEvent>)
    if (watchesOnce(call.op)) this.#watches(call, value as Watched)
  }

  #watches(call: Call, { changed, unwatch }: Watched): void {
    this.#leaving(call, () => {
      // It may not reach a server any more.
      unwatch().catch((error: unknown) => {
        if (!KeeperError.is(error)) throw error
      })
    })
    void changed.then(({ type, path }) => {
      this.#leave.delete(call.id)
      this.#note({ type: 'told', call: call.id, what: type, path })
    })
  }

  #follows(call: Call, events: WatchIterator<PersistentWatchEvent>): void {
    this.#leaving(call, () => void events.return())
    const take = (): void => {
      events.next().then(
        ({ value, done }) => {
          if (done) return
          const what = value.type === 'Gap' ? `Gap ${value.cause}` : value.type
          this.#note({ type: 'told', call: call.id, what, path: value.path })
          take()
        },
        (error: unknown) => this.#note({ type: 'told', call: call.id, what: String(error), path: readBy(call) }),
      )
    }
    for (let each = 0; each < ASKED_AHEAD; each++) take()
  }

  #leaving({ id, leavesAfter }: Call, leave: () => void): void {
    const once = () => {
      if (!this.#leave.delete(id)) return
      this.#note({ type: 'left', call: id })
      leave()
    }
    this.#leave.set(id, once)
    if (leavesAfter !== undefined) this.#after(leavesAfter, once)
  }

  /** Records the beginning and the end of every session of the client. */
  #follow(zk: ZooKeeper): void {
    const { session } = zk
    const { client } = this
    const term = this.#term
    this.#terms.set(session, term)
    this.#note({ type: 'began', client, term })
    session.signal.addEventListener('abort', () => {
      const { code } = session.signal.reason as KeeperError
      this.#note({ type: 'ended', client, term, code, anomalies: session.anomalies })
      if (zk.session === session) return
      this.#term++
      this.#follow(zk)
    })
  }

  #after(delay: number, action: () => void): void {
    const cancel = this.runtime.setTimer(delay, () => {
      this.#timers.delete(cancel)
      action()
    })
    this.#timers.add(cancel)
  }

  #note(happening: CallHappening): void {
    this.recorder.note(happening)
  }
}

const ABORTED = new Error('aborted')

function outcomeOf(error: unknown): Outcome {
  if (error === ABORTED) return { how: 'aborted' }
  if (!KeeperError.is(error)) throw error
  const { code, number, outcomeUnknown } = error
  return { how: 'rejected', code, number, outcomeUnknown }
}

// One history of a client of a sound ensemble, by a seed. For a while the network between them alters what servers send, and
// then it is sound, too. What the client reports may be wrong. But it must report, by the documented errors, and everything
// must work afterwards.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { VirtualWorld } from '@zk/testing'
import { ErrorCode, Xid } from '@zk/wire'
import {
  connect,
  type ConnectOptions,
  digestMd5,
  KeeperError,
  type Runtime,
  type Session,
  type ZooKeeper,
} from '../../src/index.ts'
import { type Outcome, outcome, pick, SeededRandom } from '../support/index.ts'
import { Calls, WATCHED } from './calls.ts'
import { HostileNetwork } from './hostile-network.ts'
import { altered } from './mutations.ts'
import { sealed } from './seals.ts'
import { CONFIG, Servers, SUPERUSER, USER } from './servers.ts'
import { strangeness } from './strangeness.ts'

/** How it ended for the client. */
export type Ending = 'recovered' | 'renewed' | 'final' | 'unreached'

export interface Played {
  readonly ending: Ending
  /** That the hostile network gave to the client. */
  readonly bytes: number
  readonly calls: number
  readonly failed: number
  /** All that was asked and sent, line by line. */
  readonly story: readonly string[]
}

/** More than a few round trips, in ms. */
const ROUND = 20
/** Silence, and servers that have seen less than a mutation pretends, are waited out only where T is no longer, in ms. */
const LONGEST_WAIT = 60_000
/** Local expiry, of which there are that many T, at most, then the pauses before attempts and new sessions. */
const EXPIRY = 4 / 3
const LONGEST_PAUSE = 25_000
/** Until calls that servers put off again and again are asked for the last time. */
const LONGEST_PUT_OFF = 200_000
/** No session timeout is longer: 2^31-1 ms. */
const LONGEST_TIMEOUT = 0x7fffffff

/** Throws at the first thing that must not be, with the last things that happened. */
export async function playCase(seed: number): Promise<Played> {
  const story: string[] = []
  const wrong: string[] = []
  const uncaught = (error: unknown) => wrong.push(`uncaught: ${error instanceof Error ? error.stack : String(error)}`)
  const record = (message: unknown) => {
    const strange = strangeness((message as { readonly reason?: Error }).reason)
    if (strange !== undefined) wrong.push(`a connection was lost for ${strange}`)
  }
  const traced = () => {}
  process.on('uncaughtException', uncaught).on('unhandledRejection', uncaught)
  subscribe('zk:connection', record)
  subscribe('zk:frame', traced)
  try {
    const played = await new FuzzCase(seed, story).play()
    await new Promise((resolve) => setImmediate(resolve))
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
    return played
  } catch (cause) {
    const last = story.slice(-25).join('\n')
    const again = `again with ZK_FUZZ_SEED=${seed}`
    throw new Error(`seed ${seed}: ${(cause as Error).message}\n${wrong.join('\n')}\n${last}\n${again}`, { cause })
  } finally {
    process.off('uncaughtException', uncaught).off('unhandledRejection', uncaught)
    unsubscribe('zk:connection', record)
    unsubscribe('zk:frame', traced)
  }
}

class FuzzCase {
  readonly #random: SeededRandom
  readonly #servers: Servers
  readonly #world: VirtualWorld
  readonly #network: HostileNetwork
  readonly #calls: Calls
  readonly #story: string[]
  readonly #options: ConnectOptions
  #isHostile = true
  /** Handshakes that are still tampered with while there is no client yet. */
  #handshakes: number

  constructor(seed: number, story: string[]) {
    const random = new SeededRandom(seed)
    this.#random = random
    this.#story = story
    this.#servers = new Servers(seed, random, pick(random, ['', '', '/chroot']))
    this.#world = this.#servers.world
    this.#network = new HostileNetwork(this.#world.runtime, (frames) => this.#carry(frames))
    this.#calls = new Calls(random, (path) => this.#servers.prepare(path))
    this.#handshakes = random.below(4)
    this.#options = optionsOf(random, this.#network.runtime)
  }

  async play(): Promise<Played> {
    const zk = await this.#connected()
    const first = zk?.session
    const id = first?.id
    const bytes = zk === undefined ? this.#network.bytes : await this.#suffer(zk)
    this.#heal()
    const ending = zk === undefined ? 'unreached' : await this.#recover(zk, first)
    // A session that is being renewed has no id yet.
    this.#must(id === undefined || id === 0n || first?.id === id, 'the session has the id of another one')
    const well = ending === 'unreached' || ending === 'final' ? await this.#another() : zk!
    await this.#isWell(well)
    await this.#settled(well)
    for (const client of new Set([well, zk ?? well])) await this.#close(client)
    const { all } = this.#calls
    const failed = all.filter((each) => each.outcome.status === 'rejected').length
    return { ending, bytes, calls: all.length, failed, story: this.#story }
  }

  // --- while all is wrong -----------------------------------------------------------------------------------------

  async #connected(): Promise<ZooKeeper | undefined> {
    const connecting = this.#connect()
    for (let ms = 0; connecting.status === 'pending' && ms <= 2 * LONGEST_PAUSE; ms += 500)
      await this.#world.elapse(500)
    this.#must(connecting.status !== 'pending', 'connect does not settle')
    if (connecting.status === 'fulfilled') return connecting.value
    this.#story.push(`connect: ${String(connecting.error)}`)
    const strange = strangeness(connecting.error)
    this.#must(strange === undefined, `connect was rejected with ${strange}`)
    if (KeeperError.is(connecting.error)) this.#justify(connecting.error)
    // A session that was given up is still ended at a server, which takes up to T/2.
    await this.#world.elapse(LONGEST_PAUSE)
    await this.#gone()
    return undefined
  }

  /** How many bytes the client was given. */
  async #suffer(zk: ZooKeeper): Promise<number> {
    const random = this.#random
    this.#handshakes = Infinity
    for (let round = 2 + random.below(8); round > 0 && !isFinal(zk); round--) {
      this.#servers.trouble()
      this.#story.push(`${this.#world.now} ms: ${this.#calls.make(zk)}`)
      await this.#world.elapse(ROUND)
      if (random.below(2) === 0)
        this.#servers.change(pick(random, [...WATCHED, CONFIG]), pick(random, ['data', 'children', 'deletion']))
      await this.#world.elapse(ROUND)
      this.#checkTaps()
      if (random.below(3) > 0) await this.#world.elapse(pick(random, [50, 500, 2_500]))
      if (random.below(3) === 0) this.#calls.abort()
      this.#checkTaps()
    }
    return this.#network.bytes
  }

  #connect(): Outcome<ZooKeeper> {
    return outcome(connect(this.#servers.connectString, this.#options))
  }

  #carry(frames: readonly Uint8Array[]) {
    const isBad =
      this.#isHostile && (this.#handshakes === Infinity ? this.#random.below(5) > 0 : this.#handshakes-- > 0)
    const arrival = isBad ? altered(frames, this.#random) : { chunks: frames }
    const hex = arrival.chunks.map((chunk) => Buffer.from(chunk.subarray(0, 80)).toString('hex'))
    this.#story.push(`${this.#world.now} ms: ${isBad ? 'altered' : 'sound'} ${hex.join(' ')} ${arrival.end ?? ''}`)
    return arrival
  }

  // --- when all is right again ------------------------------------------------------------------------------------

  #heal(): void {
    this.#story.push('from now on all is sound')
    this.#isHostile = false
    this.#servers.heal()
  }

  async #recover(zk: ZooKeeper, first: Session | undefined): Promise<Ending> {
    const isShort = zk.session.timeout <= LONGEST_WAIT
    // Servers have seen all that a mutation has pretended, or the session must be waited out.
    if (!isShort || this.#random.below(2) === 0) this.#network.hidesZxids = true
    // A connection whose stream is out of step is noticed by silence, if by nothing else.
    if (isShort && this.#random.below(2) === 0) await this.#world.elapse(2 * zk.session.timeout)
    this.#world.network.reset()
    await this.#world.elapse(ROUND)
    const by = this.#world.now + EXPIRY * zk.session.timeout + LONGEST_PAUSE
    while (zk.session.connection === undefined && !isFinal(zk) && this.#world.now < by) await this.#world.elapse(100)
    if (isFinal(zk)) return this.#final(zk)
    this.#must(zk.session.connection !== undefined, 'the client finds no server, though all are well')
    if (zk.session === first) return 'recovered'
    this.#justify(first!.signal.reason)
    this.#must(first!.signal.reason.code === 'SessionExpired', 'only an expired session is followed by another')
    return 'renewed'
  }

  async #final(zk: ZooKeeper): Promise<Ending> {
    const { reason } = zk.session.signal
    this.#justify(reason)
    this.#must(reason.code !== 'SessionExpired' || !this.#options.renewSession, 'no session follows an expired one')
    const call = outcome(zk.exists('/'))
    await this.#world.elapse(ROUND)
    this.#must(KeeperError.is(call.error) && call.error.code === reason.code, `a call at the end: ${call.status}`)
    await this.#gone()
    return 'final'
  }

  /** A client that is of no further use is followed by another. */
  async #another(): Promise<ZooKeeper> {
    const connecting = this.#connect()
    await this.#world.elapse(LONGEST_PAUSE)
    this.#must(connecting.status === 'fulfilled', `a new client does not connect: ${String(connecting.error)}`)
    return connecting.value
  }

  /** It serves calls and tells of events, of watches that were set before too. */
  async #isWell(zk: ZooKeeper): Promise<void> {
    const well = `/${sealed('well')}`
    for (const path of [well, ...WATCHED]) this.#servers.change(path, 'data')
    await this.#world.elapse(ROUND)
    const read = outcome(zk.getData(well))
    const watch = outcome(zk.getDataAndWatch(WATCHED[1]!))
    const loop = outcome(zk.watch(WATCHED[3]!))
    await this.#world.elapse(ROUND)
    this.#must(read.status === 'fulfilled', `a call on a sound connection: ${read.status} ${String(read.error)}`)
    this.#must(Buffer.from(read.value.data).toString() === well, 'a call got the wrong answer')
    const changed = outcome(watch.value.changed)
    const next = outcome(loop.value.next())
    const { loops, watches } = this.#calls
    const before = loops.map(({ notified }) => notified.length)
    for (const path of [...WATCHED, CONFIG])
      for (const what of ['data', 'children'] as const) this.#servers.change(path, what)
    await this.#world.elapse(ROUND)
    this.#must(changed.status === 'fulfilled', 'a watch set on a sound connection tells nothing')
    this.#must(next.status === 'fulfilled', 'a persistent watch set on a sound connection tells nothing')
    const silent = watches.filter(({ status }) => status === 'pending').length
    this.#must(silent === 0, `${silent} watches of before tell nothing`)
    for (const [index, { notified, outcome }] of loops.entries()) {
      const isNotified = outcome.status !== 'pending' || notified.length > before[index]!
      this.#must(isNotified, `a persistent watch of before tells nothing: ${notified.join(', ')}`)
    }
    await loop.value.return()
  }

  /** Every promise is settled, and with what is allowed. */
  async #settled(zk: ZooKeeper): Promise<void> {
    await this.#world.elapse(5_000)
    if (this.#calls.pending.length > 0) await this.#world.elapse(LONGEST_PUT_OFF)
    this.#must(this.#calls.pending.length === 0, `calls that are never settled: ${this.#calls.pending.join(', ')}`)
    for (const fault of this.#calls.faults(this.#network.taps)) this.#must(false, fault)
    const { waiting, inFlight } = zk.stats().flow
    this.#must(waiting + inFlight === 0, `${waiting} requests wait and ${inFlight} are in flight without a caller`)
  }

  async #close(zk: ZooKeeper): Promise<void> {
    const closing = outcome(zk.close())
    await this.#world.elapse(100)
    this.#must(closing.status === 'fulfilled', `close is ${closing.status} ${String(closing.error)}`)
    const open = this.#calls.loops.filter(({ outcome }) => outcome.status === 'pending').length
    this.#must(open === 0, `${open} loops do not end with the client`)
    await this.#gone()
  }

  /** Nothing is left: no timer, no connection, no further attempt. */
  async #gone(): Promise<void> {
    const { length } = this.#network.taps
    await this.#world.elapse(LONGEST_PAUSE)
    this.#must(this.#world.runtime.timers === 0, `${this.#world.runtime.timers} timers are left`)
    this.#must(this.#network.taps.length === length, 'there are new connections at the end')
    this.#must(!this.#network.taps.some(({ isOpen }) => isOpen), 'a connection is left')
  }

  // --- what must hold ---------------------------------------------------------------------------------------------

  #checkTaps(): void {
    for (const tap of this.#network.taps) {
      const fault = tap.isOpen && !tap.hasLeft ? tap.fault(this.#options.advanced!.maxResponseSize!) : undefined
      this.#must(fault === undefined, `the client goes on behind ${fault}`)
    }
  }

  /** Only a server's answer, or long silence, ends a client. */
  #justify(reason: KeeperError): void {
    const { taps } = this.#network
    const codes = taps.flatMap((tap) => tap.codes)
    const timeouts = taps.flatMap(({ timeout }) => timeout ?? [])
    const sessions = new Set(taps.map(({ session }) => session).filter((session) => session !== undefined))
    const isRefused = codes.some(({ xid, err }) => xid === Xid.auth && err !== 0) || codes.some(isSaslWanted)
    const shortest = Math.min(LONGEST_TIMEOUT, ...timeouts.filter((timeout) => timeout > 0))
    const isJust: Record<string, boolean> = {
      // A token of SASL that is altered may say anything.
      AuthFailed: isRefused || this.#options.sasl !== undefined,
      SessionExpired:
        timeouts.some((timeout) => timeout <= 0) ||
        // A server does not know the session, and gave another one.
        sessions.size > 1 ||
        codes.some(({ err }) => err === ErrorCode.SessionExpired) ||
        this.#world.now >= EXPIRY * shortest,
      // A credential was not answered for as long as connect may take.
      RequestTimeout: this.#world.now >= LONGEST_PAUSE,
    }
    this.#must(isJust[reason.code] === true, `the client ended without a reason: ${reason.message}`)
  }

  #must(holds: boolean, what: string): asserts holds {
    if (!holds) throw new Error(what)
  }
}

const isSaslWanted = ({ err }: { readonly err: number }) => err === ErrorCode.SessionClosedRequireSaslAuth

/** The next session, if there is one, is there before the signal of the last aborts. */
const isFinal = (zk: ZooKeeper) => zk.session.signal.aborted

function optionsOf(random: SeededRandom, runtime: Runtime): ConnectOptions {
  return {
    runtime,
    sessionTimeout: pick(random, [1_000, 6_000, 30_000]),
    connectTimeout: LONGEST_PAUSE,
    renewSession: random.below(4) > 0,
    advanced: {
      maxResponseSize: pick(random, [4 * 1024 * 1024, 100_000, 3_000]),
      maxInFlight: pick(random, [1_000, 1_000, 3]),
      traceFrames: random.below(4) === 0,
    },
    auth: random.below(4) === 0 ? [{ scheme: 'digest', auth: SUPERUSER }] : [],
    ...(random.below(5) === 0 ? { sasl: digestMd5(USER) } : {}),
  }
}

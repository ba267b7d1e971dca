// Servers of one ensemble that answer all that is asked, as ZooKeeper would; what becomes of it on its way is up to the
// network.
import {
  AddWatchMode,
  type AddWatchRequest,
  ConnectRequest,
  decode,
  ErrorCode,
  type EventType,
  FrameDecoder,
  OpCode,
  type RemoveWatchesRequest,
  type SetWatches2,
  type TypeOf,
  WatcherType,
  Xid,
} from '@zk/wire'
import { eventFrame, handshakeFrame, replyFrame, type SeededRandom } from '../support/index.ts'
import type { Link, Listener, Peer } from '../support/link.ts'
import { readRequest, type ReceivedRequest } from '../support/requests.ts'
import { answerTo } from './answers.ts'
import type { Arrival } from './mutations.ts'
import type { TappedWorld } from './world.ts'
import type { Wiretap } from './wiretap.ts'

/** What becomes of frames of the server on their way to the client. */
export type Network = (frames: readonly Uint8Array[]) => Arrival

/** No client has seen more. */
export const LAST_ZXID = 2n ** 63n - 1n

export class Ensemble implements Listener {
  readonly world: TappedWorld
  readonly random: SeededRandom
  /** The connections that stand. */
  readonly connections = new Set<HonestConnection>()
  readonly sessions = new Map<bigint, Uint8Array>()
  network: Network
  zxid = 1n
  failsOneIn = 4
  longest = Infinity
  /** Nobody gets through to a server; undefined while all do. */
  refusal: Error | undefined
  #serial = 0
  #lastSession = 0x1000n

  constructor(world: TappedWorld, random: SeededRandom, network: Network) {
    this.world = world
    this.random = random
    this.network = network
  }

  dialed(link: Link): void {
    if (this.refusal !== undefined) return link.lose(this.refusal)
    const connection = new HonestConnection(this, link, this.world.taps.at(-1)!)
    this.connections.add(connection)
    link.open(connection)
  }

  answer(request: ReceivedRequest): { err: number; frame: Uint8Array } {
    if (this.zxid < LAST_ZXID) this.zxid++
    const { random, failsOneIn, longest, zxid } = this
    return answerTo(request, { random, failsOneIn, longest, zxid, serial: ++this.#serial })
  }

  /** A new session. */
  open(): { sessionId: bigint; passwd: Uint8Array } {
    const granted = { sessionId: ++this.#lastSession, passwd: bytes(this.random, 16) }
    this.sessions.set(granted.sessionId, granted.passwd)
    return granted
  }

  /** Something happens to the nodes: every watcher of one of these receives an event. */
  happen(type: NodeEventType, paths: readonly string[]): void {
    for (const connection of this.connections) connection.happen(type, paths)
  }

  /** All connections end. */
  cut(): void {
    for (const connection of this.connections) connection.cut()
  }
}

type NodeEventType = Exclude<EventType, 'None' | `${string}Removed`>

class HonestConnection implements Peer {
  readonly #ensemble: Ensemble
  readonly #link: Link
  readonly #tap: Wiretap
  readonly #frames = new FrameDecoder()
  readonly #watches = { data: new Set<string>(), child: new Set<string>() }
  readonly #persistent = { persistent: new Set<string>(), recursive: new Set<string>() }
  #isMute = false
  #isShaken = false

  constructor(ensemble: Ensemble, link: Link, tap: Wiretap) {
    this.#ensemble = ensemble
    this.#link = link
    this.#tap = tap
  }

  received(segment: Uint8Array): void {
    this.#frames.push(segment)
    const answers: Uint8Array[] = []
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
      answers.push(...(this.#isShaken ? [this.#answer(readRequest(frame))] : this.#shake(frame)))
    }
    this.#send(answers)
  }

  closed(): void {
    this.#ensemble.connections.delete(this)
  }

  cut(): void {
    this.#ensemble.connections.delete(this)
    this.#link.lose(new Error('read ECONNRESET'))
  }

  happen(type: NodeEventType, paths: readonly string[]): void {
    const { data, child } = this.#watches
    const { persistent, recursive } = this.#persistent
    const isOfChildren = type === 'NodeChildrenChanged'
    const notified = paths.filter((path) => {
      const wasOnce = (isOfChildren ? child : data).delete(path)
      const isBelow = upFrom(path).some((above) => recursive.has(above))
      return wasOnce || persistent.has(path) || (isBelow && !isOfChildren)
    })
    this.#send(notified.map((path) => eventFrame(type, path)))
  }

  #send(frames: readonly Uint8Array[]): void {
    if (frames.length === 0 || this.#isMute) return
    const { chunks, end } = this.#ensemble.network(frames)
    for (const chunk of chunks) this.#link.deliver(chunk)
    if (end === 'mute') this.#isMute = true
    else if (end !== undefined) this.cut()
  }

  #shake(frame: Uint8Array): Uint8Array[] {
    this.#isShaken = true
    const { lastZxidSeen, sessionId, passwd, timeOut } = decode(ConnectRequest, frame)
    const { sessions, zxid } = this.#ensemble
    if (lastZxidSeen > zxid) {
      // It is behind what the client has seen, and closes the connection without a word.
      this.cut()
      return []
    }
    if (sessionId === 0n) return [handshakeFrame({ timeOut, readOnly: false, ...this.#ensemble.open() })]
    const isKnown = Buffer.from(passwd ?? []).equals(sessions.get(sessionId) ?? new Uint8Array(0))
    if (isKnown) return [handshakeFrame({ timeOut, sessionId, passwd, readOnly: false })]
    return [handshakeFrame({ timeOut: 0, sessionId: 0n, passwd: new Uint8Array(16), readOnly: false })]
  }

  #answer(request: ReceivedRequest): Uint8Array {
    const { xid, opCode, body } = request
    if (opCode === OpCode.ping) return replyFrame({ xid: Xid.ping, zxid: 0n })
    const path = 'path' in body ? (body.path ?? '') : 'prefixPath' in body ? (body.prefixPath ?? '') : ''
    if (opCode !== OpCode.auth) this.#tap.asked.push({ xid, opCode, path })
    const { err, frame } = this.#ensemble.answer(request)
    if (err === ErrorCode.Ok) this.#watch(request)
    if (opCode === OpCode.exists && err === ErrorCode.NoNode) this.#watch(request)
    return frame
  }

  #watch({ opCode, body }: ReceivedRequest): void {
    const { data, child } = this.#watches
    const { persistent, recursive } = this.#persistent
    if ('watch' in body && body.watch) (opCode === OpCode.getChildren2 ? child : data).add(body.path ?? '')
    if (opCode === OpCode.setWatches || opCode === OpCode.setWatches2) {
      const lists = body as TypeOf<typeof SetWatches2>
      for (const path of [...(lists.dataWatches ?? []), ...(lists.existWatches ?? [])]) data.add(path ?? '')
      for (const path of lists.childWatches ?? []) child.add(path ?? '')
      for (const path of lists.persistentWatches ?? []) persistent.add(path ?? '')
      for (const path of lists.persistentRecursiveWatches ?? []) recursive.add(path ?? '')
    }
    if (opCode === OpCode.addWatch) {
      const { path, mode } = body as TypeOf<typeof AddWatchRequest>
      const watches = mode === AddWatchMode.PERSISTENT_RECURSIVE ? recursive : persistent
      watches.add(path ?? '')
    }
    if (opCode === OpCode.removeWatches) {
      const { path, type } = body as TypeOf<typeof RemoveWatchesRequest>
      for (const watches of tablesOf(type, data, child, persistent, recursive)) watches.delete(path ?? '')
    }
  }
}

/** The tables that a removal is about (since 3.9 each kind is kept by itself). */
function tablesOf(
  type: number,
  ...[data, child, persistent, recursive]: [Set<string>, Set<string>, Set<string>, Set<string>]
) {
  const all = {
    [WatcherType.Data]: [data],
    [WatcherType.Children]: [child],
    [WatcherType.Persistent]: [persistent],
    [WatcherType.PersistentRecursive]: [recursive],
  }
  return all[type as keyof typeof all] ?? [data, child, persistent, recursive]
}

function upFrom(path: string): string[] {
  const parts = path.split('/').slice(1)
  return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)]
}

function bytes(random: SeededRandom, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256))
}

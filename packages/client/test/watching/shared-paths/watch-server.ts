// One connection of a server that executes requests when it is ordered to, and whose answers wait until they are delivered.
// @zk/testing has servers too, which do so in their own time; here a history says what happens between any two steps.
import {
  AddWatchMode,
  type AddWatchRequest,
  concat,
  ConnectRequest,
  decode,
  ErrorResponse,
  type EventType,
  ExistsResponse,
  FrameDecoder,
  GetChildren2Response,
  type GetDataRequest,
  GetDataResponse,
  OpCode,
  type RemoveWatchesRequest,
  SyncResponse,
  type Type,
  type TypeOf,
  Xid,
} from '@zk/wire'
import type { ReplyFields } from '../../support/frames.ts'
import { eventFrame, handshakeFrame, replyFrame, someStat } from '../../support/index.ts'
import type { Link, Peer } from '../../support/link.ts'
import { type KnownOpCode, readRequest, type ReceivedRequest } from '../../support/requests.ts'
import type { Change, Node, Nodes, Onlooker } from './nodes.ts'
import type { Kind } from './watch-table.ts'
import { type Lists, Watches } from './watches.ts'

export class WatchServer implements Peer, Onlooker {
  readonly watches: Watches
  readonly #nodes: Nodes
  readonly #link: Link
  readonly #say: (line: string) => void
  readonly #frames = new FrameDecoder()
  #requests: ReceivedRequest[] = []
  #answers: Uint8Array[] = []
  #isShaken = false
  #isClosed = false

  constructor(nodes: Nodes, link: Link, kind: Kind, say: (line: string) => void) {
    this.#nodes = nodes
    this.#link = link
    this.#say = say
    this.watches = new Watches(nodes, kind, (type, path, zxid) => this.#tell(type, path, zxid))
    nodes.onlookers.add(this)
  }

  // --- the connection ---------------------------------------------------------------------------------------------

  received(segment: Uint8Array): void {
    this.#frames.push(segment)
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
      if (this.#isShaken) this.#asked(readRequest(frame))
      else this.#shake(frame)
    }
  }

  closed(): void {
    this.#isClosed = true
    this.#nodes.onlookers.delete(this)
  }

  /** What was answered arrives, then the connection is lost. */
  reset(): void {
    this.deliver()
    this.drop()
  }

  /** The connection is lost, and what was answered with it. */
  drop(): void {
    this.closed()
    this.#link.lose(new Error('read ECONNRESET'))
  }

  /** What was answered arrives, in one segment. */
  deliver(): void {
    if (this.#answers.length > 0 && !this.#isClosed) this.#link.deliver(concat(this.#answers))
    this.#answers = []
  }

  #shake(frame: Uint8Array): void {
    this.#isShaken = true
    const { sessionId, timeOut } = decode(ConnectRequest, frame)
    const passwd = new Uint8Array(16)
    this.#link.deliver(handshakeFrame({ timeOut, sessionId: sessionId || 0x77n, passwd, readOnly: false }))
  }

  #asked(request: ReceivedRequest): void {
    if (request.opCode === OpCode.ping) return void this.#answers.push(replyFrame({ xid: Xid.ping, zxid: 0n }))
    this.#say(`    sent ${described(request)}`)
    this.#requests.push(request)
  }

  happened(change: Change): void {
    this.watches.happened(change)
  }

  /** With a zxid whatever the release, so that it is known which change was delivered. */
  #tell(type: EventType, path: string, zxid?: bigint): void {
    this.#say(`  server tells ${type} ${path} ${zxid === undefined ? 'of the past' : `@${zxid}`}`)
    this.#answers.push(eventFrame(type, path, zxid === undefined ? {} : { zxid }))
  }

  // --- what requests do: FinalRequestProcessor --------------------------------------------------------------------

  /** Executes what was asked first and waits, or refuses it as a busy server does; false when there is nothing. */
  execute(isThrottled = false): boolean {
    const request = this.#requests.shift()
    if (request === undefined || this.#isClosed) return false
    this.#say(`  server ${isThrottled ? 'puts off' : 'executes'} ${described(request)} @${this.#nodes.zxid}`)
    if (isThrottled) this.#answer(request, 'ThrottledOp')
    else this.#execute(request)
    return true
  }

  #execute(request: ReceivedRequest): void {
    const { opCode, body } = request
    const read = () => this.#read(request, body as TypeOf<typeof GetDataRequest>)
    const setAgain = () => this.#setAgain(request, body as Lists)
    const executions: Partial<Record<KnownOpCode, () => void>> = {
      [OpCode.getData]: read,
      [OpCode.exists]: read,
      [OpCode.getChildren2]: read,
      [OpCode.addWatch]: () => this.#add(request, body as TypeOf<typeof AddWatchRequest>),
      [OpCode.removeWatches]: () => this.#remove(request, body as TypeOf<typeof RemoveWatchesRequest>),
      [OpCode.setWatches]: setAgain,
      [OpCode.setWatches2]: setAgain,
      [OpCode.sync]: () => this.#answer(request, 'Ok', SyncResponse, body as TypeOf<typeof SyncResponse>),
      [OpCode.closeSession]: () => this.#answer(request),
    }
    const execute = executions[opCode]
    if (execute === undefined) throw new Error(`${request.name} has nothing to do with watches`)
    execute()
  }

  /** A node that is not there is watched for its creation by exists alone (DataTree.getData, statNode, getChildren). */
  #read(request: ReceivedRequest, { path, watch }: TypeOf<typeof GetDataRequest>): void {
    const node = this.#nodes.get(path!)
    const table = request.opCode === OpCode.getChildren2 ? 'child' : 'data'
    if (watch && (node !== undefined || request.opCode === OpCode.exists)) this.watches.addOnce(table, path!)
    if (node === undefined) return this.#answer(request, 'NoNode')
    const stat = statOf(node)
    if (request.opCode === OpCode.exists) return this.#answer(request, 'Ok', ExistsResponse, { stat })
    if (request.opCode === OpCode.getData) {
      return this.#answer(request, 'Ok', GetDataResponse, { data: new Uint8Array(), stat })
    }
    return this.#answer(request, 'Ok', GetChildren2Response, { children: [], stat })
  }

  #add(request: ReceivedRequest, { path, mode }: TypeOf<typeof AddWatchRequest>): void {
    this.watches.addForGood(path!, mode === AddWatchMode.PERSISTENT ? 'persistent' : 'recursive')
    this.#answer(request, 'Ok', ErrorResponse, { err: 0 })
  }

  #remove(request: ReceivedRequest, { path, type }: TypeOf<typeof RemoveWatchesRequest>): void {
    const wasAny = this.watches.remove(path!, type)
    if (wasAny === undefined) this.#answer(request, 'MarshallingError')
    else this.#answer(request, wasAny ? 'Ok' : 'NoWatcher')
  }

  #setAgain(request: ReceivedRequest, lists: Lists): void {
    this.watches.setAgain(lists)
    this.#answer(request)
  }

  #answer(request: ReceivedRequest, err?: ReplyFields['err']): void
  #answer<T>(request: ReceivedRequest, err: ReplyFields['err'], type: Type<T>, body: T): void
  #answer<T>({ xid }: ReceivedRequest, err: ReplyFields['err'] = 'Ok', type?: Type<T>, body?: T): void {
    const header = { xid, zxid: this.#nodes.zxid, err }
    this.#answers.push(type === undefined ? replyFrame(header) : replyFrame(header, type, body as T))
  }
}

function statOf({ czxid, mzxid, pzxid }: Node) {
  return { ...someStat, czxid, mzxid, pzxid }
}

function described({ name, body }: ReceivedRequest): string {
  return `${name} ${JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`
}

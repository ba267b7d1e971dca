// One server with its leader's preparation in it, and clients that ask it by the names of operations.
import {
  type ACL,
  type EventType,
  type Id,
  type OperationName,
  operations,
  Perms,
  type RequestMessage,
  type RequestOf,
  type Stat,
} from '@zk/wire'
import {
  type Answer,
  answerRead,
  answerWrite,
  DataTree,
  type DataTreeOptions,
  isWrite,
  Preparation,
  type PreparationOptions,
  type TxnResult,
} from '../../src/database/index.ts'
import type { Connection, ServerRequest } from '../../src/server/request.ts'
import type { LoggedTxn, Txn } from '../../src/server/txn.ts'

export const OPEN: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const acl = (perms: number, scheme: string | null, id: string | null): ACL => ({ perms, id: { scheme, id } })

/** A session with its connection, and what it received. */
export class Client implements Connection {
  readonly events: string[] = []
  readonly sessionId: bigint
  authInfo: readonly Id[]

  constructor(sessionId: bigint, authInfo: readonly Id[] = [{ scheme: 'ip', id: '127.0.0.1' }]) {
    this.sessionId = sessionId
    this.authInfo = authInfo
  }

  /** The zxid in the header of each event. */
  readonly zxids: bigint[] = []

  event(type: EventType, path: string, zxid: bigint): void {
    this.events.push(`${type} ${path}`)
    this.zxids.push(zxid)
  }

  established(): void {}
  reply(): void {}
  close(): void {}

  request<Name extends OperationName>(op: Name, request: RequestOf<Name>['request']): ServerRequest {
    return this.#asking({ type: 'request', op, opCode: operations[op].opCode, xid: 1, request } as RequestMessage)
  }

  /** One whose body is raw bytes. */
  raw(op: 'createSession' | 'deleteContainer', rest: Uint8Array): ServerRequest {
    const message = { type: 'request', op, opCode: operations[op].opCode, xid: 1, request: undefined, rest }
    return this.#asking(message as RequestMessage)
  }

  /** One whose body cannot be read. */
  malformed(op: OperationName): ServerRequest {
    const message = { type: 'request', op, opCode: operations[op].opCode, xid: 1, request: undefined }
    return { ...this.#asking(message as RequestMessage), isMalformed: true }
  }

  #asking(message: RequestMessage): ServerRequest {
    return { sessionId: this.sessionId, message, authInfo: this.authInfo, owner: 'a', connection: this }
  }
}

export class Server {
  readonly tree: DataTree
  readonly preparation: Preparation
  readonly log: LoggedTxn[] = []
  readonly results: TxnResult[] = []
  zxid = 0n
  time = 1_000
  readonly #outstanding: { readonly request: ServerRequest; readonly zxid: bigint; readonly txn: Txn }[] = []

  constructor(options?: DataTreeOptions & PreparationOptions) {
    this.tree = new DataTree(options)
    this.preparation = new Preparation(this.tree, options)
  }

  /** Made a transaction, but not yet applied. */
  prepare(request: ServerRequest): Txn {
    const zxid = ++this.zxid
    const txn = this.preparation.prepare(request, zxid)
    this.#outstanding.push({ request, zxid, txn })
    return txn
  }

  /** All that was prepared, and how it is answered. */
  commit(): (Answer | undefined)[] {
    return this.#outstanding
      .splice(0)
      .map(({ request, zxid, txn }) => answerWrite(request, this.#apply(request, zxid, txn), this.tree.release))
  }

  do(request: ServerRequest): Answer {
    if (!isWrite(request.message.opCode)) return answerRead(this.tree, request)
    this.prepare(request)
    const answer = this.commit().at(-1)
    if (answer === undefined) throw new Error('it was never answered')
    return answer
  }

  /** The code of a request's answer. */
  err(request: ServerRequest): number {
    return this.do(request).err
  }

  ask(request: ServerRequest): unknown {
    const { err, response } = this.do(request)
    if (err !== 0) throw new Error(`refused with ${err}`)
    return response
  }

  stat(path: string): Stat {
    return (this.ask(operator.request('exists', { path, watch: false })) as { stat: Stat }).stat
  }

  children(path: string): string[] {
    return (this.ask(operator.request('getChildren', { path, watch: false })) as { children: string[] }).children
  }

  /** Made by the operator: nodes with open ACLs and no data. */
  make(...paths: string[]): this {
    for (const path of paths) this.ask(operator.request('create', { path, data: bytes(''), acl: OPEN, flags: 0 }))
    return this
  }

  /** Commits a transaction of another session. */
  operate(txn: Txn): TxnResult {
    return this.#apply(operator.request('ping', undefined), ++this.zxid, txn)
  }

  #apply({ sessionId, message: { xid } }: ServerRequest, zxid: bigint, txn: Txn): TxnResult {
    const logged = { header: { sessionId, cxid: xid, zxid, time: this.time++ }, txn }
    this.log.push(logged)
    const result = this.tree.apply(logged)
    this.results.push(result)
    this.preparation.applied(zxid)
    return result
  }
}

/** May do everything. */
export const operator = new Client(0x0en, [{ scheme: 'super', id: '' }])

export const creating = (path: string | null, flags = 0, entries: readonly ACL[] | null = OPEN) => ({
  path,
  data: bytes(''),
  acl: entries,
  flags,
})

/** All of a tree that clients can see, and what only its servers know. */
export function picture(tree: DataTree): unknown {
  const nodes = [...tree.paths()].map((path) => {
    const { data, acl, czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner, ...node } =
      tree.get(path)!
    const stat = { czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner }
    return [path, { ...node, data, acl, ...stat, children: tree.get(path)!.listChildren() }] as const
  })
  const owners = [...tree.ephemeralOwners].map((owner) => [owner, tree.ephemerals(owner).inOrder()] as const)
  const { containers, ttls, lastProcessedZxid, nodeCount, approximateDataSize, ephemeralsCount } = tree
  const others = { containers: new Set(containers), ttls: new Set(ttls) }
  return { nodes, owners, ...others, lastProcessedZxid, nodeCount, approximateDataSize, ephemeralsCount }
}

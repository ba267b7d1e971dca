// The transactions that the ensemble committed, in order. Clients are checked against them.
import type { LoggedTxn, Txn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import { executedParts } from './executed-parts.ts'
import { kindOfNode } from '../scenario/hold-kind.ts'

/** One node from its creation to its end. */
export interface Life {
  readonly path: string
  readonly data: string
  readonly czxid: bigint
  /** The czxid of its place in the queue: its own, unless one transaction put it in the place of another node. */
  readonly place: bigint
  /** The fencing token of its holder: its place, or for the permits of a semaphore its czxid. */
  readonly fence: bigint
  /** Its session; 0 for nodes that are not ephemeral. */
  readonly owner: bigint
  readonly createdAt: number
  /** undefined while it exists. */
  end: { readonly zxid: bigint; readonly at: number; readonly how: 'deleted' | 'sessionClosed' } | undefined
}

/** A check of a node's existence that was committed. */
export interface CommittedCheck {
  readonly path: string
  readonly zxid: bigint
  readonly session: bigint
  readonly at: number
}

interface Commit {
  readonly zxid: bigint
  readonly session: bigint
  readonly at: number
  readonly place?: bigint | undefined
}

const utf8 = new TextDecoder()

export class ServerLog {
  /** The last node of each path. */
  readonly lives = new Map<string, Life>()
  /** All nodes, in the order of their creation: several of one path, if it was made again. */
  readonly all: Life[] = []
  readonly checks: CommittedCheck[] = []

  constructor(log: Iterable<LoggedTxn>) {
    for (const { header, txn } of log) {
      const { zxid, sessionId } = header
      this.#add(txn, { zxid, session: sessionId, at: header.time - WALL_START })
    }
  }

  /** The children of this node, the oldest first; of each path the last one, unless others are given. */
  below(parent: string, lives: Iterable<Life> = this.lives.values()): Life[] {
    return [...lives].filter(({ path }) => path.slice(0, path.lastIndexOf('/')) === parent)
  }

  begin(life: Life): void {
    this.lives.set(life.path, life)
    this.all.push(life)
  }

  #add(txn: Txn, by: Commit): void {
    const { zxid, session, at } = by
    switch (txn.type) {
      case 'create': {
        const owner = txn.kind === 'ephemeral' ? session : 0n
        const data = txn.data === null ? '' : utf8.decode(txn.data)
        const { path } = txn
        const place = by.place ?? zxid
        const fence = kindOfNode(path) === 'permits' ? zxid : place
        return this.begin({ path, data, czxid: zxid, place, fence, owner, createdAt: at, end: undefined })
      }
      case 'delete':
        return this.#end(txn.path, { zxid, at, how: 'deleted' })
      case 'closeSession':
        for (const path of txn.paths) this.#end(path, { zxid, at, how: 'sessionClosed' })
        return
      case 'check':
        this.checks.push({ path: txn.path, zxid, session, at })
        return
      case 'multi':
        for (const part of executedParts(txn)) this.#add(part, { ...by, place: this.#placeLeft(txn.txns) })
        return
      // No node is created or deleted, and nothing is proven.
      case 'createSession':
      case 'setData':
      case 'setACL':
      case 'presetCounter':
      case 'error':
    }
  }

  /** The place of the node that these delete, unless they have also created it. */
  #placeLeft(txns: readonly Txn[]): bigint | undefined {
    const isBrief = (path: string) => txns.some((each) => each.type === 'create' && each.path === path)
    const deleted = txns.find(
      (each): each is Extract<Txn, { type: 'delete' }> => each.type === 'delete' && !isBrief(each.path),
    )
    return deleted && this.lives.get(deleted.path)?.place
  }

  #end(path: string, end: NonNullable<Life['end']>): void {
    const life = this.lives.get(path)
    if (life !== undefined) life.end = end
  }
}

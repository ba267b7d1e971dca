// The contenders of one path, in order.
import type { CallOptions, NodeData, ZooKeeper } from '@zk/client'
import { ifMissing } from './if-missing.ts'
import { type ContenderName, type Kind, parseName } from './names.ts'

/** Somebody who holds or waits. */
export interface ContenderInfo {
  readonly path: string
  readonly kind: Kind
  /** 0 for the oldest. */
  readonly position: number
  /** What it stored in its node: its label, or a candidate's data. */
  readonly data: Uint8Array
  /** The same as text. */
  readonly label: string
  readonly sessionId: bigint
  /** When it entered, by the leader's clock, in ms since the epoch. */
  readonly since: number
  /** The czxid of its node: it rises with every later contender of the path. */
  readonly fencingToken: bigint
}

const utf8 = new TextDecoder()

export class Queue {
  readonly zk: ZooKeeper
  readonly path: string
  readonly #rivals: readonly Kind[]

  constructor(zk: ZooKeeper, path: string, rivals: readonly Kind[]) {
    this.zk = zk
    this.path = path
    this.#rivals = rivals
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`
  }

  /** Oldest first. Children that are no contenders are left out. Rejects with `NoNode` when the path does not exist. */
  async list(options: CallOptions): Promise<ContenderName[]> {
    const { children } = await this.zk.getChildren(this.path, options)
    return this.inLine(children)
  }

  /** The contenders among these children, oldest first. */
  inLine(children: readonly string[]): ContenderName[] {
    return children
      .map(parseName)
      .filter((name) => name !== undefined)
      .filter(({ kind }) => this.#rivals.includes(kind))
      .sort((one, other) => one.sequence - other.sequence)
  }

  /** Who holds and who waits, oldest first. Whoever leaves while it is read is left out. */
  async contenders(options: CallOptions): Promise<ContenderInfo[]> {
    const names = await ifMissing(this.list(options), [])
    const infos = await Promise.all(names.map((name) => this.#read(name, options)))
    return infos.filter((info) => info !== undefined).map((info, position) => ({ ...info, position }))
  }

  /** The oldest; undefined when there is none. */
  async first(options: CallOptions): Promise<ContenderInfo | undefined> {
    for (;;) {
      const [name] = await ifMissing(this.list(options), [])
      if (name === undefined) return undefined
      const info = await this.#read(name, options)
      if (info !== undefined) return info
    }
  }

  /** What a contender's node says. */
  info({ name, kind }: ContenderName, { data, stat }: NodeData): ContenderInfo {
    return {
      path: this.pathOf(name),
      kind,
      position: 0,
      data,
      label: utf8.decode(data),
      sessionId: stat.ephemeralOwner,
      since: stat.ctime,
      fencingToken: stat.czxid,
    }
  }

  /** undefined when it is gone. */
  async #read(name: ContenderName, options: CallOptions): Promise<ContenderInfo | undefined> {
    const node = await ifMissing(this.zk.getData(this.pathOf(name.name), options), undefined)
    return node && this.info(name, node)
  }
}

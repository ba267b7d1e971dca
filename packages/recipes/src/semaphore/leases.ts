// The children of `leases`: one ephemeral node for each permit that is taken. As in Curator, every child counts, even one of
// another program.
//
// A node of ours is named `_c_<uuid>-lease-<permit>`, with the uuid of its contender. So a list shows which permits are taken,
// and the nodes of a transaction whose answer was lost can be found by name. Curator's nodes end in ten digits, the counter of
// the parent; numbers of permits are shorter.
import { type CallOptions, type EnsureOptions, op, type Session, type ZooKeeper } from '@zk/client'
import { callEach } from '../kernel/call-each.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import type { ContenderName, Kind } from '../queue/names.ts'
import { type ContenderInfo, contenderInfo, numbered } from '../queue/queue.ts'
import { ContenderNode, type Folder } from '../queue/contender-node.ts'
import { retry } from '../kernel/retry.ts'

const NAME = /^_c_([0-9a-f-]{36})-lease-(\d{1,6})$/

/** A node that takes one permit. */
export interface HolderInfo extends ContenderInfo {
  /** Which permit; undefined for a node of another program, Curator's for instance. */
  readonly permit: number | undefined
}

export class Leases implements Folder {
  readonly zk: ZooKeeper
  readonly path: string
  readonly recipePath: string
  readonly #kind: Kind

  constructor(zk: ZooKeeper, recipePath: string, kind: Kind) {
    this.zk = zk
    this.path = `${recipePath}/leases`
    this.recipePath = recipePath
    this.#kind = kind
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`
  }

  /**
   * Creates the folder, and a brief node in it: servers delete only containers that had a child, and this contender may be given
   * up before it takes a permit. Rejects with `NodeExists` if the folder exists.
   */
  async make({ acl, ...options }: EnsureOptions): Promise<void> {
    const brief = this.pathOf('brief')
    const ops = [op.create(this.path, '', { mode: 'CONTAINER', acl }), op.create(brief), op.delete(brief)] as const
    await this.zk.multi(ops, options)
  }

  /** The name of the node with this permit: its `sequence`. */
  nameOf(uuid: string, permit: number): ContenderName {
    return { name: `_c_${uuid}-lease-${permit}`, uuid, kind: this.#kind, sequence: permit }
  }

  /** undefined for a node of another program. Such a node counts, but has no permit of ours. */
  parse(name: string): ContenderName | undefined {
    const [, uuid, permit] = NAME.exec(name) ?? []
    return uuid === undefined ? undefined : { name, uuid, kind: this.#kind, sequence: Number(permit) }
  }

  /** All names; none if the folder does not exist yet. */
  async list(options: CallOptions): Promise<readonly string[]> {
    const listing = () => ifMissing((asking) => this.zk.getChildren(this.path, asking), options, { children: [] })
    return (await retry(this.zk, listing, options.signal)).children
  }

  /** The smallest `count` permits that no node of ours has. If there is room for that many, they are below `permits`. */
  free(names: readonly string[], count: number): number[] {
    const taken = new Set(names.map((name) => this.parse(name)?.sequence))
    const free: number[] = []
    for (let permit = 0; free.length < count; permit++) if (!taken.has(permit)) free.push(permit)
    return free
  }

  /** The names with this uuid. */
  ofContender(uuid: string, names: readonly string[]): ContenderName[] {
    return names.map((name) => this.parse(name)).filter((name) => name?.uuid === uuid) as ContenderName[]
  }

  /** Reads a node, even one of another program; undefined if it is gone. */
  async holder(name: string, options: CallOptions): Promise<HolderInfo | undefined> {
    const path = this.pathOf(name)
    const reading = () => ifMissing((asking) => this.zk.getData(path, asking), options, undefined)
    const node = await retry(this.zk, reading, options.signal)
    if (node === undefined) return undefined
    const permit = this.parse(name)?.sequence
    const isGranted = permit === undefined ? undefined : true
    return Object.assign(contenderInfo(path, this.#kind, node), { isGranted, permit })
  }

  /** All, oldest first. */
  async holders(options: CallOptions): Promise<HolderInfo[]> {
    const names = await this.list(options)
    const read = await callEach(names, (name) => this.holder(name, options))
    return numbered(read.filter((holder) => holder !== undefined).sort(byCreation))
  }

  /** Reads the nodes, in the session `asking`. Nodes that are gone, or belong to another session, are left out. */
  async own(names: readonly ContenderName[], session: Session, asking = session): Promise<ContenderNode[]> {
    const read = await callEach(names, (name) => ContenderNode.find(this, session, name, asking))
    return read.filter((node) => node !== undefined)
  }
}

/** The nodes of one hold were created in one transaction: they are sorted by permit. */
function byCreation(one: HolderInfo, other: HolderInfo): number {
  if (one.fencingToken !== other.fencingToken) return one.fencingToken < other.fencingToken ? -1 : 1
  return (one.permit ?? 0) - (other.permit ?? 0)
}

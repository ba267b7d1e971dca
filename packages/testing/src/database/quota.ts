// Quotas: limits that clients write below /zookeeper/quota, and the usage that servers count there (Quotas, StatsTrack).

import type { DataNode } from './data-node.ts'
import { parentOf } from './paths.ts'

const QUOTA = '/zookeeper/quota'
const PROC = '/zookeeper'
const LIMITS = 'zookeeper_limits'
const STATS = 'zookeeper_stats'

/** The path of the limits of a node. */
const limitsPath = (path: string): string => `${QUOTA}${path}/${LIMITS}`
/** The path of the usage of a node, which includes all nodes below it. */
const statsPath = (path: string): string => `${QUOTA}${path}/${STATS}`

/** `count=4,bytes=5=;byteHardLimit=10;countHardLimit=10`. A missing number counts as -1. */
class StatsTrack {
  readonly #values: ReadonlyMap<string, bigint>

  /** Returns undefined if the data cannot be read. */
  static parse(data: Uint8Array | null): StatsTrack | undefined {
    const values = new Map<string, bigint>()
    const text = new TextDecoder().decode(data ?? new Uint8Array()).replace(/[,;]+$/, '')
    for (const pair of text === '' ? [] : text.split(/[,;]+/)) {
      const [key = '', value = ''] = pair.split('=')
      if (!/^[-+]?\d+$/.test(value)) return undefined
      values.set(key, BigInt(value.replace('+', '')))
    }
    return new StatsTrack(values)
  }

  private constructor(values: ReadonlyMap<string, bigint>) {
    this.#values = values
  }

  static of(count: number, bytes: number): StatsTrack {
    return new StatsTrack(
      new Map([
        ['count', BigInt(count)],
        ['bytes', BigInt(bytes)],
      ]),
    )
  }

  get(key: 'count' | 'bytes' | 'countHardLimit' | 'byteHardLimit'): bigint {
    return this.#values.get(key) ?? -1n
  }

  plus(count: number, bytes: number): StatsTrack {
    const values = new Map(this.#values)
    values.set('count', this.get('count') + BigInt(count))
    values.set('bytes', this.get('bytes') + BigInt(bytes))
    return new StatsTrack(values)
  }

  /** Count and bytes come first. Because of the extra `=`, old parsers do not read the rest. */
  toString(): string {
    const others = [...this.#values].filter(([key]) => key !== 'count' && key !== 'bytes')
    const first = `count=${this.get('count')},bytes=${this.get('bytes')}`
    if (others.length === 0) return first
    const rest = others.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => `;${key}=${value}`)
    return `${first}=${rest.join('')}`
  }

  toBytes(): Uint8Array {
    return new TextEncoder().encode(this.toString())
  }
}

/** An increase, in nodes and bytes. */
export interface Growth {
  readonly count: number
  readonly bytes: number
}

/** The quotas of one tree: the nodes that have one, and the usage below them. */
export class Quotas {
  readonly #nodes: ReadonlyMap<string, DataNode>
  /** The nodes that have limits (PathTrie). */
  readonly #limited = new Set<string>()

  constructor(nodes: ReadonlyMap<string, DataNode>) {
    this.#nodes = nodes
  }

  /** Copies the quotas of another tree. */
  adopt(other: Quotas): void {
    for (const path of other.#limited) this.#limited.add(path)
  }

  /**
   * Checks an increase against the quota of the node, or of the nearest node above it that has one. Only changes that are
   * already in the tree count. 'unreadable' means that the limits or the usage are not numbers.
   */
  check(path: string, more: Growth): 'fine' | 'exceeded' | 'unreadable' {
    const above = this.#covering(path)
    const limits = above === undefined ? undefined : this.#nodes.get(limitsPath(above))
    const stats = above === undefined ? undefined : this.#nodes.get(statsPath(above))
    if (limits === undefined || stats === undefined) return 'fine'
    const [most, now] = [StatsTrack.parse(limits.data), StatsTrack.parse(stats.data)]
    if (most === undefined || now === undefined) return 'unreadable'
    return exceeds(most, now, more) ? 'exceeded' : 'fine'
  }

  created(path: string, bytes: number): void {
    const limited = below(QUOTA, path, LIMITS)
    if (limited !== undefined) this.#limited.add(limited)
    const counted = below(QUOTA, path, STATS)
    if (counted !== undefined) this.#count(counted)
    this.grown(path, { count: 1, bytes })
  }

  deleted(path: string, bytes: number): void {
    const limited = below(PROC, path, LIMITS)
    if (limited !== undefined) this.#limited.delete(limited)
    this.grown(path, { count: -1, bytes: -bytes })
  }

  /** Adds to the usage, but changes no version and fires no watch of the node with the usage (updateQuotaStat). */
  grown(path: string, { count, bytes }: Growth): void {
    const above = this.#covering(path)
    const node = above === undefined ? undefined : this.#nodes.get(statsPath(above))
    const stats = node && StatsTrack.parse(node.data)
    if (node !== undefined && stats !== undefined) node.data = stats.plus(count, bytes).toBytes()
  }

  /** Counts the node and all nodes below it (updateQuotaForPath). */
  #count(path: string): void {
    const node = this.#nodes.get(statsPath(path))
    if (node === undefined) return
    let [count, bytes] = [0, 0]
    for (const [other, { dataLength }] of this.#nodes) {
      if (other !== path && !other.startsWith(`${path}/`)) continue
      count++
      bytes += dataLength
    }
    node.data = StatsTrack.of(count, bytes).toBytes()
  }

  /** The nearest node with a quota, from the node itself upwards; undefined if there is none. The root has no quota. */
  #covering(path: string): string | undefined {
    if (this.#limited.size === 0) return undefined
    for (let at = path; at !== '' && at !== '/'; at = parentOf(at)) if (this.#limited.has(at)) return at
    return undefined
  }
}

/** The node that such a path is about: `/zookeeper/quota/a/b/zookeeper_limits` has the limits of `/a/b`. */
function below(above: string, path: string, name: string): string | undefined {
  if (!path.startsWith(`${above}/`) || !path.endsWith(`/${name}`)) return undefined
  const about = path.slice(QUOTA.length, -name.length - 1)
  return about === '' ? undefined : about
}

/** Whether the increase would exceed a hard limit. Soft limits refuse no write (ZooKeeperServer.checkQuota). */
function exceeds(limits: StatsTrack, stats: StatsTrack, more: Growth): boolean {
  const isTooMuch = (limit: bigint, now: bigint, plus: number) =>
    plus !== 0 && limit > -1n && now + BigInt(plus) > limit
  return (
    isTooMuch(limits.get('countHardLimit'), stats.get('count'), more.count) ||
    isTooMuch(limits.get('byteHardLimit'), stats.get('bytes'), more.bytes)
  )
}

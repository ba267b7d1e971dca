// What tests of mirrors share: the tree of the servers, and a reader that replays the changes it is told.
import type { Stat } from '@zk/client'
import { expect } from 'vitest'
import type { MirrorChange, MirroredNode, OpenMirror } from '../../src/index.ts'
import { outcome, type Outcome } from './outside.ts'
import type { Scene } from './scene.ts'

/** Paths with data, transactions included: what makes two trees the same. */
export type Content = Record<string, string>

interface Contained {
  readonly data: Uint8Array | undefined
  readonly stat: { readonly czxid: bigint; readonly mzxid: bigint }
}

const shown = (data: Uint8Array | undefined) => (data === undefined ? 'unreadable' : Buffer.from(data).toString())

const contentOf = ({ data, stat }: Contained) => `${shown(data)} ${stat.czxid} ${stat.mzxid}`

/** The nodes of the leader from `path` on. */
export function treeOf(scene: Scene, path: string, isKept: (path: string) => boolean = () => true): Content {
  const node = scene.ensemble.nodes.get(path)
  if (node === undefined) return {}
  const below = node.children.map((name) => (path === '/' ? `/${name}` : `${path}/${name}`)).filter(isKept)
  return Object.assign({ [path]: contentOf(node) }, ...below.map((child) => treeOf(scene, child, isKept)))
}

export function copyOf(mirror: OpenMirror): Content {
  return Object.fromEntries(Array.from(mirror.entries(), (node) => [node.path, contentOf(node)]))
}

/** Reads the changes as they come, and applies them to an empty tree. Each must fit to what was told before. */
export class Replay {
  readonly changes: MirrorChange[] = []
  readonly reading: Outcome<void>
  readonly #nodes = new Map<string, MirroredNode>()
  readonly #root: string

  constructor(mirror: OpenMirror) {
    this.#root = mirror.path
    this.reading = outcome(this.#read(mirror))
  }

  get content(): Content {
    return Object.fromEntries([...this.#nodes].map(([path, node]) => [path, contentOf(node)]))
  }

  /** `Added /a`, `Ready` … */
  get told(): string[] {
    return this.changes.map((change) => (change.type === 'Ready' ? 'Ready' : `${change.type} ${change.path}`))
  }

  async #read(mirror: OpenMirror): Promise<void> {
    for await (const change of mirror.watchChanges()) this.take(change)
  }

  take(change: MirrorChange): void {
    this.changes.push(change)
    if (change.type === 'Ready') return
    const { path } = change
    const known = this.#nodes.get(path)
    if ('old' in change) expect(contentOf(change.old)).toBe(known && contentOf(known))
    else expect(known).toBeUndefined()
    if ('node' in change) {
      if (path !== this.#root) expect(this.#nodes.has(path.slice(0, path.lastIndexOf('/')) || '/')).toBe(true)
      if (known !== undefined) {
        expect(contentOf(change.node)).not.toBe(contentOf(known))
        expect(change.node.stat.mzxid).toBeGreaterThanOrEqual(known.stat.mzxid)
      }
      this.#nodes.set(path, change.node)
    } else {
      expect([...this.#nodes.keys()].filter((each) => each.startsWith(`${path}/`))).toEqual([])
      this.#nodes.delete(path)
    }
  }
}

/** Of an empty node that this transaction has made. */
export function statOf(czxid: number): Stat {
  const zxid = BigInt(czxid)
  return {
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctime: 0,
    mtime: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
  }
}

// The invariants of mirrors, against the transactions that the ensemble committed.
import type { LoggedTxn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import type { MirroredContent } from '../../history/mirror.ts'
import { executedParts, type Part } from '../../history/executed-parts.ts'
import { perPlayed } from '../../history/per-played.ts'
import { PATH } from '../../play/paths.ts'
import type { Check, Violation } from '../../checks/check.ts'
import { COMMIT_ROUNDING } from '../../checks/times.ts'

const NEVER = 2n ** 63n

/** What a node held, from one transaction until another. */
interface Content extends MirroredContent {
  readonly at: number
  /** The transaction that ended it, and its time. */
  until: bigint
  untilAt: number
}

/** The tree as the ensemble had it. */
class TreeLog {
  /** The contents of each path, in order. */
  readonly contents = new Map<string, Content[]>()

  constructor(log: readonly LoggedTxn[]) {
    for (const { header, txn } of log) {
      for (const part of executedParts(txn)) this.#add(part, header.zxid, header.time - WALL_START)
    }
  }

  #add(txn: Part, zxid: bigint, at: number): void {
    switch (txn.type) {
      case 'create':
        return this.#begin({ path: txn.path, czxid: zxid, mzxid: zxid, text: textOf(txn.data) }, at)
      case 'setData': {
        const before = this.#end(txn.path, zxid, at)
        if (before !== undefined) this.#begin({ ...before, mzxid: zxid, text: textOf(txn.data) }, at)
        return
      }
      case 'delete':
        this.#end(txn.path, zxid, at)
        return
      case 'closeSession':
        for (const path of txn.paths) this.#end(path, zxid, at)
        return
      case 'createSession':
      case 'check':
      case 'setACL':
      case 'presetCounter':
      case 'error':
    }
  }

  #begin(content: MirroredContent, at: number): void {
    if (content.path !== PATH && !content.path.startsWith(`${PATH}/`)) return
    const begun = { ...content, at, until: NEVER, untilAt: Infinity }
    const known = this.contents.get(content.path)
    if (known === undefined) this.contents.set(content.path, [begun])
    else known.push(begun)
  }

  #end(path: string, zxid: bigint, at: number): Content | undefined {
    const last = this.contents.get(path)?.at(-1)
    if (last === undefined || last.until !== NEVER) return undefined
    last.until = zxid
    last.untilAt = at
    return last
  }

  find({ path, czxid, mzxid, text }: MirroredContent): Content | undefined {
    return this.contents.get(path)?.find((each) => each.czxid === czxid && each.mzxid === mzxid && each.text === text)
  }

  /** Whether there was no such node at some time from this transaction on, until now. */
  wasAbsent(path: string, since: bigint, now: number): boolean {
    const all = (this.contents.get(path) ?? []).filter(({ at }) => at <= now + COMMIT_ROUNDING)
    return !all.some(({ mzxid, until }, index) => {
      // Those that follow each other without a gap are one: a write, or a node that was made again in one transaction.
      const isThere = mzxid <= since && until > since
      if (!isThere) return false
      let last = index
      while (all[last + 1]?.mzxid === all[last]!.until && all[last + 1]!.czxid === all[last]!.czxid) last++
      const { untilAt } = all[last]!
      return untilAt > now + COMMIT_ROUNDING
    })
  }
}

function textOf(data: Uint8Array | null | undefined): string {
  return data === null || data === undefined ? '' : Buffer.from(data).toString()
}

/** T1: when the storm is over, each mirror shows the tree, and its reader was told it. */
const asTheTree: Check = ({ end }) => (end.differences ?? []).map((what) => ({ invariant: 'T1', at: end.at, what }))

/**
 * T2: each change that is told fits to what was told before, and to the tree: the node was so, and what is told to be gone
 * is gone. None is told twice, and none goes back.
 */
const toldOnce: Check = (played) => {
  const log = logOf(played)
  const told = new Map<string, MirroredContent>()
  return played.history.flatMap((each): Violation[] => {
    if (each.type !== 'mirrored') return []
    const { mirror, path, old, node, at } = each
    const key = `${mirror} ${path}`
    const before = told.get(key)
    if (node === undefined) told.delete(key)
    else told.set(key, node)
    const wrong = (what: string): Violation[] => [{ invariant: 'T2', at, what: `mirror ${mirror}: ${path} ${what}` }]
    if (!areSame(old, before)) return wrong('is not as it was told before')
    if (areSame(old, node)) return wrong('is told again')
    if (node !== undefined) {
      const content = log.find(node)
      if (content === undefined || content.at > at + COMMIT_ROUNDING)
        return wrong(`never was ${node.text} of ${node.mzxid}`)
      if (old !== undefined && node.mzxid < old.mzxid) return wrong('goes back')
    }
    if (old !== undefined && old.czxid !== node?.czxid) {
      const last = log.contents.get(path)?.findLast(({ czxid }) => czxid === old.czxid)
      if ((last?.untilAt ?? 0) > at + COMMIT_ROUNDING) return wrong('is told to be gone, and is not')
    }
    return []
  })
}

/** T3: every change up to its zxid is in a mirror: it shows no node that was replaced by then, and lacks none. */
const completeToZxid: Check = (played) => {
  const log = logOf(played)
  const depths = new Map<number, number>()
  return played.history.flatMap((each): Violation[] => {
    if (each.type === 'opened') depths.set(each.mirror, each.depth ?? Infinity)
    if (each.type !== 'shown') return []
    const { mirror, zxid, nodes, at } = each
    const wrong = (what: string): Violation => ({ invariant: 'T3', at, what: `mirror ${mirror} at ${zxid}: ${what}` })
    const old = nodes.filter((node) => (log.find(node)?.until ?? 0n) <= zxid)
    const shown = new Set(nodes.map(({ path }) => path))
    const levels = (path: string) => path.slice(PATH.length).split('/').length - 1
    const lacking = [...log.contents.keys()].filter(
      (path) => !shown.has(path) && levels(path) <= depths.get(mirror)! && !log.wasAbsent(path, zxid, at),
    )
    return [
      ...old.map(({ path, mzxid }) => wrong(`${path} of ${mzxid} was replaced`)),
      ...lacking.map((path) => wrong(`${path} is lacking`)),
    ]
  })
}

function areSame(one: MirroredContent | undefined, other: MirroredContent | undefined): boolean {
  return one?.czxid === other?.czxid && one?.mzxid === other?.mzxid && one?.text === other?.text
}

const logOf = perPlayed(({ committed }) => new TreeLog(committed))

export const mirrorChecks: readonly Check[] = [asTheTree, toldOnce, completeToZxid]

// The invariants of a group, against the transactions that the ensemble committed.
import type { LoggedTxn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import type { ListedMember } from '../../history/group.ts'
import { executedParts, type Part } from '../../history/executed-parts.ts'
import { perPlayed } from '../../history/per-played.ts'
import type { Played } from '../../history/played.ts'
import { PATH } from '../../play/paths.ts'
import type { Check, InvariantId, Violation } from '../../checks/check.ts'
import { COMMIT_ROUNDING } from '../../checks/times.ts'

/** What a node of the group held, from one transaction until another. */
interface Content {
  readonly text: string
  readonly mzxid: bigint
  readonly at: number
  /** The transaction that ended it. */
  until: bigint
}

interface Life {
  readonly name: string
  readonly czxid: bigint
  readonly owner: bigint
  readonly contents: Content[]
  endedAt: number | undefined
}

/** The members from one transaction until the next that made or deleted one. */
interface Names {
  readonly from: bigint
  readonly at: number
  readonly key: string
}

const utf8 = new TextDecoder()
const NEVER = 2n ** 63n

/** The group as the ensemble had it. */
class GroupLog {
  readonly lives = new Map<bigint, Life>()
  readonly names: Names[] = [{ from: 0n, at: 0, key: '' }]
  /** Writes and deletions of a node by a session that does not own it. An operator has no session. */
  readonly foreign: { readonly at: number; readonly what: string }[] = []
  /** The names of nodes that such a write has met, if an operator had deleted the session's own node: see `onlyOwnNodes`. */
  readonly excused = new Set<string>()
  /** The last life of each name that an operator has ended. */
  readonly #forced = new Map<string, Life>()
  readonly #now = new Map<string, Life>()

  constructor(log: readonly LoggedTxn[]) {
    for (const { header, txn } of log) {
      for (const part of executedParts(txn)) this.#add(part, header.zxid, header.sessionId, header.time - WALL_START)
    }
  }

  #add(txn: Part, zxid: bigint, session: bigint, at: number): void {
    switch (txn.type) {
      case 'create': {
        const name = nameOf(txn.path)
        if (name === undefined) return
        const text = txn.data === null ? '' : utf8.decode(txn.data)
        const contents = [{ text, mzxid: zxid, at, until: NEVER }]
        const life: Life = { name, czxid: zxid, owner: session, contents, endedAt: undefined }
        this.#now.set(name, life)
        this.lives.set(zxid, life)
        return this.#changed(zxid, at)
      }
      case 'setData': {
        const life = this.#now.get(nameOf(txn.path) ?? '')
        if (life === undefined) return
        this.#check(life, session, at, 'written')
        life.contents.at(-1)!.until = zxid
        life.contents.push({ text: utf8.decode(txn.data ?? new Uint8Array()), mzxid: zxid, at, until: NEVER })
        return
      }
      case 'delete': {
        const life = this.#now.get(nameOf(txn.path) ?? '')
        if (life === undefined) return
        this.#check(life, session, at, 'deleted')
        if (session === 0n) this.#forced.set(life.name, life)
        return this.#end([life], zxid, at)
      }
      case 'closeSession':
        return this.#end(
          txn.paths.flatMap((path) => this.#now.get(nameOf(path) ?? '') ?? []),
          zxid,
          at,
        )
      case 'createSession':
      case 'check':
      case 'setACL':
      case 'presetCounter':
      case 'error':
    }
  }

  #check({ name, owner }: Life, session: bigint, at: number, how: string): void {
    if (session === 0n || session === owner) return
    if (this.#forced.get(name)?.owner === session) this.excused.add(name)
    else this.foreign.push({ at, what: `${name} of another session was ${how}` })
  }

  #end(lives: readonly Life[], zxid: bigint, at: number): void {
    for (const life of lives) {
      life.contents.at(-1)!.until = zxid
      life.endedAt = at
      this.#now.delete(life.name)
    }
    if (lives.length > 0) this.#changed(zxid, at)
  }

  #changed(from: bigint, at: number): void {
    this.names.push({ from, at, key: keyOf([...this.#now.values()]) })
  }
}

function nameOf(path: string): string | undefined {
  return path.startsWith(`${PATH}/`) ? path.slice(PATH.length + 1) : undefined
}

function keyOf(members: readonly { readonly name: string; readonly czxid: bigint }[]): string {
  return members
    .map(({ name, czxid }) => `${name}@${czxid}`)
    .sort()
    .join()
}

const logOf = perPlayed(({ committed }) => new GroupLog(committed))

/**
 * G1: when the storm is over, exactly the memberships that have not ended have a node, each with its last data, and every
 * observer has seen that.
 */
const asItShallBe: Check = (played) => {
  const { end } = played
  const { excused } = logOf(played)
  const wrong = (end.differences ?? []).filter((what) => ![...excused].some((name) => what.startsWith(`${name} holds`)))
  return wrong.map((what) => ({ invariant: 'G1', at: end.at, what }))
}

/** G2: when `leave` has resolved, no node of the membership exists, and none is made. */
const goneAfterLeave: Check = (played) =>
  played.history.flatMap((each): Violation[] => {
    if (each.type !== 'hasLeft' || each.error !== undefined || each.isSessionOver) return []
    const left = livesOf(played, each.membership).filter(
      ({ endedAt }) => (endedAt ?? Infinity) > each.at + COMMIT_ROUNDING,
    )
    return left.map(({ name }) =>
      violation('G2', each.at, `membership ${each.membership} has left, and ${name} is there`),
    )
  })

/**
 * G3: a membership writes and deletes no node of another session. One case is left out, which no client can exclude: an operator
 * deletes the node, and another member takes the name, while the request is under way. Servers compare versions only.
 */
const onlyOwnNodes: Check = (played) => logOf(played).foreign.map(({ at, what }) => violation('G3', at, what))

/** G4: a join that resolved has made a node, and an update that resolved has written its data, or later data. */
const doneWhenResolved: Check = (played) =>
  played.history.flatMap((each): Violation[] => {
    if (each.type !== 'joined' && (each.type !== 'updated' || each.error !== undefined)) return []
    const least = each.type === 'joined' ? 0 : each.update
    const written = livesOf(played, each.membership).flatMap(({ contents }) => contents)
    const isWritten = written.some(
      ({ text, at }) => Number(text.split('.')[1]) >= least && at <= each.at + COMMIT_ROUNDING,
    )
    return isWritten
      ? []
      : [violation('G4', each.at, `membership ${each.membership} resolved, and ${least} is not written`)]
  })

/**
 * G5: every list is a list that the group had, and the data of its members is from that time or later. G6: the lists of an
 * observer never go back.
 */
const wholeLists: Check = (played) => {
  const { lives, names } = logOf(played)
  const violations: Violation[] = []
  const last = new Map<number, { readonly index: number; readonly members: readonly ListedMember[] }>()
  for (const each of played.history) {
    if (each.type !== 'listed') continue
    const { client, members, at } = each
    const before = last.get(client)
    const key = keyOf(members)
    const fits = (state: Names) =>
      state.key === key && state.at <= at + COMMIT_ROUNDING && areOfThen(members, state.from, lives)
    const index = names.findIndex((state, place) => place >= (before?.index ?? 0) && fits(state))
    if (index === -1) {
      const isOld = names.some(fits)
      violations.push(violation(isOld ? 'G6' : 'G5', at, `client ${client} saw ${key || 'no member'}`))
    }
    for (const { name, czxid, mzxid } of members) {
      const earlier = before?.members.find((member) => member.czxid === czxid)
      if (earlier !== undefined && earlier.mzxid > mzxid)
        violations.push(violation('G6', at, `client ${client} saw older data of ${name}`))
    }
    last.set(client, { index: index === -1 ? (before?.index ?? 0) : index, members })
  }
  return violations
}

/** Whether each data was written, and not replaced before the list. */
function areOfThen(members: readonly ListedMember[], from: bigint, lives: ReadonlyMap<bigint, Life>): boolean {
  return members.every(({ czxid, mzxid, text }) => {
    const content = lives.get(czxid)?.contents.find((each) => each.mzxid === mzxid)
    return content !== undefined && content.text === text && content.until > from
  })
}

function livesOf(played: Played, membership: number): Life[] {
  return [...logOf(played).lives.values()].filter(({ contents }) => contents[0]!.text.startsWith(`${membership}.`))
}

function violation(invariant: InvariantId, at: number, what: string): Violation {
  return { invariant, at, what }
}

export const groupChecks: readonly Check[] = [asItShallBe, goneAfterLeave, onlyOwnNodes, doneWhenResolved, wholeLists]

// The contenders ahead of a contender. The first list that shows its own node shows all of them, because later nodes queue behind
// it. The exception is a successor (`successorName`), a new node that takes an earlier place.
import type { CallOptions } from '@zk/client'
import { type Ahead, AheadInOrder, type ContenderList } from './contender-list.ts'
import type { ContenderNode } from './contender-node.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished } from '../kernel/sessions.ts'
import type { Queue } from './queue.ts'

/** Finds the contenders in a list that are ahead. */
type AheadIn = (list: ContenderList) => Ahead

export class Predecessors {
  readonly #own: ContenderName
  /** The contenders of a list that are ahead, oldest first. */
  readonly aheadIn: AheadIn

  /** For a list in which numbers give the order. A successor has the number of the contender whose place it has. */
  static byNumber(own: ContenderName): Predecessors {
    return new Predecessors(own, (list) => list.below(own.sequence))
  }

  /** For a list in which numbers do not give the order. Every other node in it is read for its czxid. */
  static async byCreation(
    queue: Queue,
    own: ContenderNode,
    all: readonly ContenderName[],
    options: CallOptions,
  ): Promise<Predecessors> {
    return new Predecessors(own.name, byCreation(queue, await olderThan(queue, own, all, options)))
  }

  private constructor(own: ContenderName, aheadIn: AheadIn) {
    this.#own = own
    this.aheadIn = aheadIn
  }

  /** Like `aheadIn`. Throws `NodeVanished` if our own node is not in the list: that must not count as being first. */
  ahead(list: ContenderList): Ahead {
    if (!list.shows(this.#own)) throw new NodeVanished()
    return this.aheadIn(list)
  }
}

/**
 * Compares the czxids at `join`. All successors count as ahead, although their nodes are younger: a contender holds when it
 * gets a successor, so it was first.
 */
function byCreation(queue: Queue, older: readonly ContenderName[]): AheadIn {
  return ({ all }) => {
    const present = new Set(all.map(({ name }) => name))
    const [successors, others] = [
      all.filter((each) => queue.isSuccessor(each)),
      older.filter((each) => !queue.isSuccessor(each)),
    ]
    return new AheadInOrder([...successors, ...others.filter(({ name }) => present.has(name))])
  }
}

/**
 * The contenders older than our node, oldest first. If a contender is gone when it is read, it may have a successor that this
 * list does not show, or permits that no read before shows. So it counts as older, which makes the contender read again.
 */
async function olderThan(
  queue: Queue,
  own: ContenderNode,
  list: readonly ContenderName[],
  options: CallOptions,
): Promise<readonly ContenderName[]> {
  const others = list.filter(({ name }) => name !== own.name.name)
  const created = await queue.byCreation(others, options)
  const left = new Set(created.map(({ contender }) => contender))
  const gone = others.filter((each) => !left.has(each))
  const older = created.filter(({ czxid }) => czxid < own.czxid).map(({ contender }) => contender)
  return [...gone, ...older]
}

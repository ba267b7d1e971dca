// The contenders ahead of one. None comes in ahead of it later, so the first list that shows its own node shows all of them.
// Only a successor (`successorName`) puts a new node into an earlier place.
import type { CallOptions } from '@zk/client'
import { type Ahead, AheadInOrder, type ContenderList } from './contender-list.ts'
import type { OwnNode } from './protected-create.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Queue } from './queue.ts'

/** Finds the contenders of a list that are ahead. */
type AheadIn = (list: ContenderList) => Ahead

export class Predecessors {
  readonly #own: ContenderName
  readonly #aheadIn: AheadIn

  /** `list` shows our node. If numbers do not give the order, every other node is read for its czxid. */
  static async join(queue: Queue, own: OwnNode, list: ContenderList, options: CallOptions): Promise<Predecessors> {
    const aheadIn = list.isInOrder
      ? byNumber(own.name)
      : byCreation(queue, await olderThan(queue, own, list.all, options))
    return new Predecessors(own.name, aheadIn)
  }

  private constructor(own: ContenderName, aheadIn: AheadIn) {
    this.#own = own
    this.#aheadIn = aheadIn
  }

  /**
   * The contenders of this list that are ahead, oldest first. Throws `NodeVanished` where our own node is missing: that is
   * never success.
   */
  ahead(list: ContenderList): Ahead {
    if (!list.shows(this.#own)) throw new NodeVanished()
    return this.#aheadIn(list)
  }
}

/** The order by number. A successor has the number of the contender whose place it has. Negative numbers come later. */
function byNumber({ sequence }: ContenderName): AheadIn {
  return (list) => list.below(sequence)
}

/**
 * The order by creation. A successor is younger than the contenders behind it. Its place is ahead of all: it was the first.
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
 * The contenders older than our node, oldest first. A contender that is gone when it is read may have a successor that this
 * list does not show. It counts as older, so that the list is read again.
 */
async function olderThan(
  queue: Queue,
  own: OwnNode,
  list: readonly ContenderName[],
  options: CallOptions,
): Promise<readonly ContenderName[]> {
  const others = list.filter(({ name }) => name !== own.name.name)
  const created = await queue.byCreation(others, options)
  const left = new Set(created.map(({ contender }) => contender))
  const gone = others.filter((each) => each.kind.successor !== undefined && !left.has(each))
  const older = created.filter(({ czxid }) => czxid < own.czxid).map(({ contender }) => contender)
  return [...gone, ...older]
}

// The contenders ahead of one. None comes in ahead of it later on, so they are known at once: at the first list that shows
// its own node, which shows all older ones that are left too. Only a successor (`successorName`) puts a new node in a
// place of before.
import type { CallOptions } from '@zk/client'
import type { OwnNode } from './protected-create.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Queue } from './queue.ts'
import { areInOrder } from './sequences.ts'

/** The contenders of a list that are ahead, in order. */
type Ahead = (list: readonly ContenderName[]) => readonly ContenderName[]

export class Predecessors {
  readonly #own: string
  readonly #ahead: Ahead

  /** `list` shows our node. Where numbers do not give the order, every other node is read for when it was created. */
  static async join(
    queue: Queue,
    own: OwnNode,
    list: readonly ContenderName[],
    options: CallOptions,
  ): Promise<Predecessors> {
    const ahead = areInOrder(list) ? byNumber(own.name) : byCreation(queue, await olderThan(queue, own, list, options))
    return new Predecessors(own.name.name, ahead)
  }

  private constructor(own: string, ahead: Ahead) {
    this.#own = own
    this.#ahead = ahead
  }

  /** The contenders of this list that are ahead, oldest first. Throws `NodeVanished` where our own node is missing: that is never success. */
  ahead(list: readonly ContenderName[]): readonly ContenderName[] {
    if (!shows(list, this.#own)) throw new NodeVanished()
    return this.#ahead(list)
  }
}

export function shows(list: readonly ContenderName[], own: string): boolean {
  return list.some(({ name }) => name === own)
}

/** A successor has the number of the contender whose place it has. Negative ones come later, if they come. */
function byNumber(own: ContenderName): Ahead {
  return (list) => list.filter(({ sequence }) => sequence >= 0 && sequence < own.sequence)
}

/** A successor is younger than the contenders behind its place. The contender before it was first: its place is ahead of all. */
function byCreation(queue: Queue, older: readonly ContenderName[]): Ahead {
  return (list) => {
    const present = new Set(list.map(({ name }) => name))
    const [successors, others] = [
      list.filter((each) => queue.isSuccessor(each)),
      older.filter((each) => !queue.isSuccessor(each)),
    ]
    return [...successors, ...others.filter(({ name }) => present.has(name))]
  }
}

/**
 * The contenders older than our node, oldest first. One that is gone when it is read may have a successor that this list does
 * not show: it counts as one of them, so that there is another look.
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

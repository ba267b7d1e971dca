// Who is ahead of a contender. Nobody comes in ahead of it later on, so that is decided once: at the first list that shows
// its own node, which shows all older ones that are left too.
import type { CallOptions } from '@zk/client'
import type { OwnNode } from './definite-create.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Queue } from './queue.ts'
import { areInOrder } from './sequences.ts'

export class Line {
  readonly #own: string
  /** Oldest first. */
  readonly #older: readonly ContenderName[]
  readonly #hasOrder: boolean

  /** `list` shows our node. Where numbers do not tell who is older, every other node is asked when it was created. */
  static async join(queue: Queue, own: OwnNode, list: readonly ContenderName[], options: CallOptions): Promise<Line> {
    const hasOrder = areInOrder(list)
    const older = hasOrder ? before(own, list) : await createdBefore(queue, own, list, options)
    return new Line(own, older, hasOrder)
  }

  private constructor({ name }: OwnNode, older: readonly ContenderName[], hasOrder: boolean) {
    this.#own = name.name
    this.#older = older
    this.#hasOrder = hasOrder
  }

  /** Those of this list who are ahead, oldest first. Throws `NodeVanished` where our own node is missing: that is never success. */
  ahead(list: readonly ContenderName[]): ContenderName[] {
    if (!shows(list, this.#own)) throw new NodeVanished()
    const present = new Map(list.map((each) => [each.name, each]))
    const downgraded = new Map(list.filter(({ kind }) => kind === 'read').flatMap((each) => this.#placesOf(each)))
    return this.#older.flatMap((each) => {
      const inItsPlace =
        each.kind === 'write' ? (downgraded.get(each.uuid) ?? downgraded.get(each.sequence)) : undefined
      return present.get(each.name) ?? inItsPlace ?? []
    })
  }

  /**
   * A writer that goes on as a reader keeps its place: the new node has its uuid, if it is one of ours, and its number, if it
   * is one of Curator's (InterProcessReadWriteLock).
   */
  #placesOf(reader: ContenderName): (readonly [string | number, ContenderName])[] {
    const byUuid = [reader.uuid, reader] as const
    return this.#hasOrder ? [byUuid, [reader.sequence, reader]] : [byUuid]
  }
}

export function shows(list: readonly ContenderName[], own: string): boolean {
  return list.some(({ name }) => name === own)
}

function before({ name: { name: own } }: OwnNode, list: readonly ContenderName[]): readonly ContenderName[] {
  return list.slice(
    0,
    list.findIndex(({ name }) => name === own),
  )
}

async function createdBefore(
  queue: Queue,
  own: OwnNode,
  list: readonly ContenderName[],
  options: CallOptions,
): Promise<readonly ContenderName[]> {
  const others = list.filter(({ name }) => name !== own.name.name)
  const created = await queue.byCreation(others, options)
  return created.filter(({ czxid }) => czxid < own.czxid).map(({ contender }) => contender)
}

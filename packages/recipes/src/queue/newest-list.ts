// The newest list of a queue that a contender of this client has read. All contenders of the client that may time out share it,
// to tell who is ahead. It is as long as the queue: if each kept its own, 1,000 waiters would take 37 kB more each.
import type { Session, ZooKeeper } from '@zk/client'
import { internalsOf } from '@zk/client/internal'
import { memoized } from '../kernel/memoized.ts'
import type { ContenderList } from './contender-list.ts'
import type { ContenderName } from './names.ts'
import type { Predecessors } from './predecessors.ts'

/** By client, and by the path in the ensemble. */
const ofClients = new WeakMap<object, Map<string, NewestList>>()

export class NewestList {
  #users = 0
  #list: ContenderList | undefined
  /** The contenders in the list that have left since. */
  readonly #left = new Set<string>()

  /** Keeps the newest lists of these folders until the returned function is called. */
  static keep({ session }: ZooKeeper, folders: readonly string[]): () => void {
    const lists = memoized(ofClients, internalsOf(session).client, () => new Map<string, NewestList>())
    for (const folder of folders) memoized(lists, folder, () => new NewestList()).#users++
    return () => {
      for (const folder of folders) if (--lists.get(folder)!.#users === 0) lists.delete(folder)
    }
  }

  /** undefined if nobody keeps it. */
  static of(session: Session, folder: string): NewestList | undefined {
    return ofClients.get(internalsOf(session).client)?.get(folder)
  }

  read(list: ContenderList): void {
    this.#list = list
    this.#left.clear()
  }

  left({ name }: ContenderName): void {
    this.#left.add(name)
  }

  /** The contenders ahead that have not left, oldest first; undefined before the first list. */
  ahead(predecessors: Predecessors): readonly ContenderName[] | undefined {
    return this.#list && predecessors.aheadIn(this.#list).all.filter(({ name }) => !this.#left.has(name))
  }
}

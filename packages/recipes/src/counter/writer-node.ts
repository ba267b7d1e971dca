// The node that shows which writes of a program have happened. It is an ephemeral child of the counter's node, and every write
// changes both in one transaction. So it also shows that the counter was not deleted and created again: a node with children
// cannot be deleted, and no writer node comes back.
import { type ACL, KeeperError, op, type Session, type Stat, type ZooKeeper } from '@zk/client'
import { OwnedNode } from '../kernel/owned-node.ts'
import { NodeVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import { createWithParents } from '../kernel/create-with-parents.ts'
import { pinnedTo, retry, throwUnlessTransient } from '../kernel/retry.ts'
import type { CounterState } from './change.ts'
import { toBytes, toValue } from './value.ts'
import { awaitedLater, settled, unawaited } from '../kernel/promises.ts'

/** In a request it matches any version. A node has it after 2^32 - 1 writes. */
const ANY = -1

const ZERO = toBytes(0n)

const utf8 = new TextDecoder()

export class WriterNode {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #counter: string
  readonly #node: OwnedNode
  readonly #acl: readonly ACL[] | undefined
  readonly #pinned: ReturnType<typeof pinnedTo>

  constructor(zk: ZooKeeper, counter: string, acl: readonly ACL[] | undefined) {
    this.session = zk.session
    this.#node = new OwnedNode(zk, this.session, `${counter}/writer-${zk.runtime.uuid()}`)
    this.#zk = zk
    this.#counter = counter
    this.#acl = acl
    this.#pinned = pinnedTo(this.session)
  }

  /**
   * Creates the node, and then reads the counter, in one segment. A missing counter is created: at the head of the segment if
   * `mayBeMissing`, otherwise when the node could not be created.
   */
  async create(mayBeMissing: boolean): Promise<CounterState> {
    if (mayBeMissing) unawaited(this.#zk.create(this.#counter, ZERO, { acl: this.#acl, ...this.#pinned }))
    for (;;) {
      const creating = this.#node.create('', this.#acl)
      const reading = awaitedLater(this.read())
      try {
        await creating
        return await reading
      } catch (error) {
        if (error instanceof NodeVanished || KeeperError.is(error, 'NoNode')) await this.#createCounter()
        else await throwUnlessTransient(this.#zk, error)
      }
    }
  }

  async #createCounter(): Promise<void> {
    const options = { acl: this.#acl, ...this.#pinned }
    const creating = retry(this.#zk, () => createWithParents(this.#zk, this.#counter, ZERO, options))
    await creating.catch((error: unknown) => {
      if (!KeeperError.is(error, 'NodeExists')) throw error
    })
  }

  /** Rejects with `NodeVanished` if there is no counter. */
  async read(): Promise<CounterState> {
    const reading = () => this.#zk.getData(this.#counter, this.#pinned)
    const { data, stat } = await retry(this.#zk, reading).catch(vanishedIfMissing)
    if (stat.version === ANY) {
      throw new RangeError(
        `${this.#counter} has the version -1, which stands for any: other programs wrote it 2^32 - 1 times; write it once more, while no program counts`,
      )
    }
    return stateOf(stat, toValue(this.#counter, data))
  }

  /**
   * Changes the counter from this state to this value, and stores `id` here, in one transaction. Rejects with `BadVersion`
   * if the counter has changed, and with `NodeVanished` if one of the nodes is gone.
   */
  async write({ version }: CounterState, value: bigint, id: string): Promise<CounterState> {
    const bytes = toBytes(value)
    const change = op.setData(this.#counter, bytes, { version })
    const note = op.setData(this.#node.path, id)
    // No write may leave the counter with a version that no request can check.
    const again = version === ANY - 1 ? [op.setData(this.#counter, bytes)] : []
    const results = await this.#zk.multi([note, change, ...again], this.#pinned).catch(vanishedIfMissing)
    return stateOf(results.at(-1)!, value)
  }

  /** Whether the write with this id has happened. No other write was begun since. Rejects with `NodeVanished` if the node is gone. */
  async shows(id: string): Promise<boolean> {
    const reading = () => this.#zk.getData(this.#node.path, this.#pinned)
    const { data } = await retry(this.#zk, reading).catch(vanishedIfMissing)
    return utf8.decode(data) === id
  }

  async delete(): Promise<void> {
    // A refusal was logged.
    await settled(this.#node.delete())
  }
}

function stateOf({ version, czxid, numChildren }: Stat, value: bigint): CounterState {
  return { value, version, czxid, writers: numChildren }
}

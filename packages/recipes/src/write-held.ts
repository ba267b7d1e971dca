// What a writer of a shared lock holds: it can go on as a reader, in the writer's place.
import { KeeperError, type Moment, momentOf, op, type Session, type ZooKeeper } from '@zk/client'
import { deleteOwn, type NodeOptions, type OwnNode } from './definite-create.ts'
import { firstLease } from './first-lease.ts'
import { Held, type Tenant } from './held.ts'
import { ifMissing } from './if-missing.ts'
import type { Lease } from './lease.ts'
import { type ContenderName, downgradedName } from './names.ts'
import type { Queue } from './queue.ts'
import type { Terms } from './terms.ts'
import { endure, persist } from './transient.ts'

export class WriteHeld extends Held {
  readonly #queue: Queue
  readonly #tenant: Tenant
  readonly #name: ContenderName
  readonly #options: NodeOptions & Terms

  /** @internal */
  constructor(queue: Queue, tenant: Tenant, node: OwnNode, lease: Lease, options: NodeOptions & Terms) {
    super(queue.zk, tenant, node, lease, options)
    this.#queue = queue
    this.#tenant = tenant
    this.#name = node.name
    this.#options = options
  }

  /**
   * Goes on as a reader. Held as a writer no longer from the call on (`Downgraded`), for readers are granted before the
   * answer is here; nobody who waits behind, writers above all, gets in between. When it fails nothing is held.
   */
  async downgrade(): Promise<Held> {
    this.throwIfLost()
    this.lose('Downgraded')
    const { session } = this.#tenant
    const reading = new Downgrade(this.#queue, session, this.#name, this.#options)
    const tenant = { session, leave: () => reading.leave() }
    try {
      const grant = await reading.make()
      const lease = await firstLease(this.#queue.zk, session, grant, this.#options)
      return new Held(this.#queue.zk, tenant, grant.node, lease, this.#options)
    } catch (error) {
      reading.leave().catch(() => {})
      throw error
    }
  }
}

/** The reader's node in place of the writer's, in one transaction. */
class Downgrade {
  readonly #zk: ZooKeeper
  readonly #queue: Queue
  readonly #session: Session
  readonly #writer: string
  readonly #name: ContenderName
  readonly #path: string
  readonly #options: NodeOptions
  #leaving: Promise<unknown> | undefined

  constructor(queue: Queue, session: Session, writer: ContenderName, options: NodeOptions) {
    this.#zk = queue.zk
    this.#queue = queue
    this.#session = session
    this.#writer = queue.pathOf(writer.name)
    this.#name = downgradedName(writer)
    this.#path = queue.pathOf(this.#name.name)
    this.#options = options
  }

  async make(): Promise<{ node: OwnNode; askedAt: Moment; askedOn: Session['connection'] }> {
    for (;;) {
      const asking = { askedAt: momentOf(this.#zk.runtime), askedOn: this.#session.connection }
      const czxid = (await this.#isCommitted()) ? await this.#czxid() : undefined
      if (czxid !== undefined) return { node: { name: this.#name, path: this.#path, czxid }, ...asking }
    }
  }

  /** Both nodes, whichever there is; in the background until that is confirmed. */
  async leave(): Promise<void> {
    this.#leaving ??= Promise.all([this.#writer, this.#path].map((path) => deleteOwn(this.#queue, this.#session, path)))
    await this.#leaving
  }

  /** False when that is not known, or was not possible for now. */
  async #isCommitted(): Promise<boolean> {
    const { data, acl } = this.#options
    const session = this.#session
    try {
      await this.#zk.multi([op.create(this.#path, data, { mode: 'EPHEMERAL', acl }), op.delete(this.#writer)], {
        session,
      })
      return true
    } catch (error) {
      // Done already, by one that was not answered.
      if (KeeperError.is(error, 'NodeExists')) return true
      if (KeeperError.is(error) && error.outcomeUnknown) {
        await ifMissing(
          persist(this.#zk.runtime, () => this.#zk.sync(this.#path, { session })),
          undefined,
        )
        return (await this.#czxid()) !== undefined
      }
      await endure(this.#zk.runtime, error)
      return false
    }
  }

  /** undefined where there is no such node of ours. */
  async #czxid(): Promise<bigint | undefined> {
    const stat = await persist(this.#zk.runtime, () => this.#zk.exists(this.#path, { session: this.#session }))
    return stat?.ephemeralOwner === this.#session.id ? stat.czxid : undefined
  }
}

import type { Host } from './host.ts'
import type { Pending } from './pending.ts'
import { PrimaryServer } from './primary-server.ts'

/**
 * A server without a quorum. All its requests, including reads, pass through one queue (SyncRequestProcessor). Requests that
 * arrive before the agenda runs are all prepared before the first of them is applied.
 */
export class StandaloneServer extends PrimaryServer {
  #queue: Pending[] = []
  #isScheduled = false
  #isOver = false

  constructor(host: Host) {
    super(host, host.database.tree.lastProcessedZxid)
  }

  override shutdown(reason: string): void {
    this.#isOver = true
    super.shutdown(reason)
  }

  protected override get syncedMembers(): undefined {
    return undefined
  }

  protected override propose(pending: Pending): void {
    if (pending.entry !== undefined) this.host.database.log.append(pending.entry)
    this.#queue.push(pending)
    if (this.#isScheduled || this.host.lag === Infinity) return
    this.#isScheduled = true
    const { process } = this.host
    process.at(process.now + this.host.lag, () => this.catchUp())
  }

  catchUp(): void {
    this.#isScheduled = false
    const queue = this.#queue
    this.#queue = []
    for (const pending of queue) if (!this.#isOver) this.finish(pending)
  }
}

import { OpCode } from '@zk/wire'
import { CommitProcessor } from './commit-processor.ts'
import type { Host } from './host.ts'
import type { Pending } from './pending.ts'
import { PrimaryServer } from './primary-server.ts'
import type { Owner } from './session-tracker.ts'

/** What a leader's server needs from its leader. */
export interface Quorum {
  propose(pending: Pending): void
  /** Answers the `sync` of a follower. */
  processSync(owner: Owner): void
  /** The ids of leader and followers. */
  readonly syncedMembers: ReadonlySet<number>
}

/** The leader's server for its clients, and for requests that followers forward (LeaderZooKeeperServer). */
export class LeaderServer extends PrimaryServer {
  readonly commits: CommitProcessor
  readonly #quorum: Quorum

  constructor(host: Host, zxid: bigint, quorum: Quorum) {
    super(host, zxid)
    this.#quorum = quorum
    this.commits = new CommitProcessor(
      host.process,
      { lag: () => host.lag },
      (pending) => this.finish(pending),
      (entry) => this.finishRemote(entry),
    )
  }

  override shutdown(reason: string): void {
    this.commits.stop()
    super.shutdown(reason)
  }

  protected override get syncedMembers(): ReadonlySet<number> {
    return this.#quorum.syncedMembers
  }

  protected override propose(pending: Pending): void {
    const { owner, request, entry } = pending
    if (request.message.opCode === OpCode.sync && owner !== undefined && owner !== this.owner) {
      return this.#quorum.processSync(owner)
    }
    // This includes reads of the leader's own clients, and writes of followers: all requests of a session stay in order.
    this.commits.submit(pending)
    if (entry !== undefined) this.#quorum.propose(pending)
  }
}

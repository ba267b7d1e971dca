// The limit of a wait for others at a barrier.
import type { CallOptions, ZooKeeper } from '@zk/client'
import { WaitLimit } from '../kernel/wait-limit.ts'
import type { BarrierTimeoutError } from './barrier-timeout-error.ts'

/** A timeout of 0 leaves a session timeout for servers, and no time for other programs. */
export class BarrierLimit extends WaitLimit {
  /** To be called when the wait for others begins. */
  readonly mustWait: () => void

  constructor(
    { runtime, session }: ZooKeeper,
    { timeout = Infinity, signal }: Pick<CallOptions, 'timeout' | 'signal'>,
    error: (after: number) => BarrierTimeoutError,
  ) {
    const after = timeout === 0 ? session.timeout : timeout
    super(runtime, { signals: [signal], timeout: { after, error: () => error(after) } })
    this.mustWait = () => {
      if (timeout === 0) this.end(() => error(0))
    }
  }
}

import { type Runtime, systemRuntime } from '@zk/client'
import { Stopwatch } from './stopwatch.ts'

/** The runtime of the machine, which records when bytes of a server were last received. */
export class LastReceipt {
  /** The time since then. */
  silence = new Stopwatch()
  readonly runtime: Runtime = {
    ...systemRuntime,
    dial: (target, handler) =>
      systemRuntime.dial(target, {
        opened: () => handler.opened(),
        drained: () => handler.drained(),
        lost: (error) => handler.lost(error),
        received: (bytes) => {
          this.silence = new Stopwatch()
          handler.received(bytes)
        },
      }),
  }
}

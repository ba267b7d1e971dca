import { type Runtime, systemRuntime } from '@zk/client'

/** The runtime of the machine, which records when bytes of a server were last received. */
export class LastReceipt {
  /** Time of `performance.now()`. */
  at = -Infinity
  readonly runtime: Runtime = {
    ...systemRuntime,
    dial: (target, handler) =>
      systemRuntime.dial(target, {
        opened: () => handler.opened(),
        drained: () => handler.drained(),
        lost: (error) => handler.lost(error),
        received: (bytes) => {
          this.at = performance.now()
          handler.received(bytes)
        },
      }),
  }
}

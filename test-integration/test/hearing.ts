import { type Runtime, systemRuntime } from '@zk/client'

/** The runtime of the machine, which records when bytes of a server were last received. */
export class Hearing {
  /** Time of `performance.now()`. */
  lastAt = -Infinity
  readonly runtime: Runtime = {
    ...systemRuntime,
    dial: (target, handler) =>
      systemRuntime.dial(target, {
        opened: () => handler.opened(),
        drained: () => handler.drained(),
        lost: (error) => handler.lost(error),
        received: (bytes) => {
          this.lastAt = performance.now()
          handler.received(bytes)
        },
      }),
  }
}

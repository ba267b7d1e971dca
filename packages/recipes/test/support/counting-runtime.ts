import { type Runtime, systemRuntime } from '@zk/client'

/** The machine's, which keeps the timers that are set in the set. */
export function countingRuntime(timers: Set<object>): Runtime {
  return {
    ...systemRuntime,
    setTimer(delay, callback) {
      const timer = {}
      timers.add(timer)
      const cancel = systemRuntime.setTimer(delay, () => {
        timers.delete(timer)
        callback()
      })
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  }
}

// Why a `run` of a virtual world does not end.

/** What the program waits for outside of the world, by the runtime's own names, each as often as it is waited for. */
export function outsideWork(): readonly string[] {
  // oxlint-disable-next-line no-restricted-globals -- nothing but the text of an error depends on it; a runtime may lack it
  return typeof process === 'undefined' ? [] : (process.getActiveResourcesInfo?.() ?? [])
}

/** The error of a run that is not over in time. `before` is the work outside of the world when it began. */
export function unfinished(timeout: number, before: readonly string[]): Error {
  const timers = count(outsideWork(), TIMER) - count(before, TIMER)
  const cause =
    timers > 0
      ? `it has set a real timer (${timers === 1 ? 'one is' : `${timers} are`} pending), and real time does not pass here. ` +
        `Wait with sleep(runtime, ms) of @zk/client, or with runtime.setTimer, in place of setTimeout`
      : 'it waits forever, or for something outside of the virtual world, such as a real timer, a file or a socket'
  return new Error(`run: not over after ${timeout} ms of virtual time: ${cause}`)
}

/** The name of a timer that keeps a process alive, in Node. */
const TIMER = 'Timeout'

function count(work: readonly string[], kind: string): number {
  return work.filter((each) => each === kind).length
}

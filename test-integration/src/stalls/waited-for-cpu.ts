import { readdirSync, readFileSync } from 'node:fs'

/**
 * How long threads of a process were ready to run while other threads had the CPU, in ms since the process began. All its
 * threads count, because the main thread waits for those of the garbage collector. Time that a virtual machine's host took
 * from its CPUs is added. Only the difference of two values means something. Only Linux counts this; elsewhere it is 0.
 */
export function waitedForCpu(pid: number | 'self'): number {
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks).reduce((sum, task) => {
      const [, waited] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')
      return sum + Number(waited) / 1e6
    }, stolen())
  } catch {
    return 0
  }
}

/** The time that the host took from all CPUs, in ms. */
function stolen(): number {
  const [ticks = 0] = /^cpu(?: +\d+){7} +(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.slice(1).map(Number) ?? []
  return ticks * MS_PER_TICK
}

/** For USER_HZ = 100. */
const MS_PER_TICK = 10

import { readdirSync, readFileSync } from 'node:fs'

/**
 * For how many ms threads of a process were ready to run while other threads had the CPU, since the process began. All
 * its threads count, since the main thread waits for the garbage collector's. Time that the host of a virtual machine has
 * taken from its CPUs is added. Only differences of two values mean something. Only Linux counts it; elsewhere it is 0.
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

/** In ms, of all CPUs. */
function stolen(): number {
  const [ticks = 0] = /^cpu(?: +\d+){7} +(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.slice(1).map(Number) ?? []
  return ticks * MS_PER_TICK
}

/** With USER_HZ = 100. */
const MS_PER_TICK = 10

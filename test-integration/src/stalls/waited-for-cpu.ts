import { readdirSync, readFileSync } from 'node:fs'

/**
 * For how many ms threads of a process were ready to run while others had the CPU, since it began: all of them, since the
 * main thread waits for those that collect garbage with it. To that comes what the host of a virtual machine has taken of
 * its CPUs, for whomever. Of two values only the difference tells. Linux counts it; elsewhere it is 0.
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

/** Of USER_HZ. */
const MS_PER_TICK = 10

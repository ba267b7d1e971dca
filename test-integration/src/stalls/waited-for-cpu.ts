import { readdirSync, readFileSync } from 'node:fs'

/**
 * For how many ms threads of a process were ready to run while others had the CPU, since it began: all of them, since the
 * main thread waits for those that collect garbage with it. Linux counts it; elsewhere it is 0.
 */
export function waitedForCpu(pid: number | 'self'): number {
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks).reduce((sum, task) => {
      const [, waited] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')
      return sum + Number(waited) / 1e6
    }, 0)
  } catch {
    return 0
  }
}

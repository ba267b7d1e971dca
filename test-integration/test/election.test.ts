import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../src/ensemble/index.ts'
import { type Entry, machineTime, outOfOrder, overlaps, readLog, turnsOf } from '../src/history/index.ts'
import { startWorker, type Worker } from '../src/workers/start.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { Stopwatch } from './support/stopwatch.ts'

const CANDIDATES = 10
const LEADERS_KILLED = 6
const SESSION_TIMEOUT = 2_000
/** For the time between the expiry and the log line: two cores, three servers, ten processes. */
const A_LITTLE = 2_000

describeEnsemble('Ten candidates whose leader is killed -9 again and again', (ensemble) => {
  let folder = ''
  const workers = new Map<string, Worker>()
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zk-election-'))
  })
  afterAll(async () => {
    for (const worker of workers.values()) worker.process.kill('SIGKILL')
    await Promise.all([...workers.values()].map(({ exited }) => exited))
    rmSync(folder, { recursive: true })
  })

  function stand(log: string, index: number): void {
    const name = `candidate${index}`
    const settings = {
      connectString: ensemble.connectString,
      path: '/election/leader',
      log,
      name,
      sessionTimeout: SESSION_TIMEOUT,
    }
    workers.set(name, startWorker('candidate', settings))
  }

  test('LeaderElection has one leader at a time, and the next within T + tick and a little (E01, L37)', async () => {
    const log = join(folder, 'history.jsonl')
    for (let index = 0; index < CANDIDATES; index++) stand(log, index)
    const killedAt = new Map<string, number>()
    const vacancies: number[] = []
    const nextLeader = (before: number) =>
      until('the next leader', async () => elected(log).find((_, index) => index === before), { timeout: 30_000 })

    for (let count = 0; count < LEADERS_KILLED; count++) {
      const leader = await nextLeader(count)
      killedAt.set(leader.token, machineTime())
      const sinceKill = new Stopwatch()
      workers.get(leader.contender)?.process.kill('SIGKILL')
      // The number of candidates stays the same.
      stand(log, CANDIDATES + count)
      const next = await nextLeader(count + 1)
      vacancies.push(next.at - killedAt.get(leader.token)! - sinceKill.paused)
    }

    const turns = turnsOf(readLog(log), ({ token }) => killedAt.get(token) ?? Infinity)
    expect(overlaps(turns)).toEqual([])
    expect(outOfOrder(turns)).toEqual([])
    const longest = Math.max(...vacancies)
    expect(longest).toBeLessThan(SESSION_TIMEOUT + ensemble.description.tickTime + A_LITTLE)
    console.info(`LeaderElection: vacancies ${vacancies.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  })
})

function elected(log: string): Entry[] {
  try {
    return readLog(log).filter(({ what }) => what === 'gained')
  } catch {
    // No candidate has written yet.
    return []
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, KeeperError } from '@zk/recipes'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { caughtUp } from './clients.ts'
import { type Ensemble, parseMntr, until } from '../src/ensemble/index.ts'
import { longestGap, outOfOrder, overlaps, readLog, turnsOf } from '../src/history/index.ts'
import { startWorker, type WorkerProgram } from '../src/workers/start.ts'
import { describeEnsemble } from './describe-ensemble.ts'
import { Nemesis } from './nemesis.ts'

const PROCESSES = 5
const CONTENDERS_PER_PROCESS = 10
const SESSION_TIMEOUT = 10_000
/** A generous bound in ms: on a slow machine every failover of the hundreds of turns counts. */
const AT_MOST = 180_000

describeEnsemble('Fifty contenders from five processes, while nodes are killed', (ensemble) => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zk-contention-'))
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await ensemble.mend()
  })

  async function contend(program: WorkerProgram, path: string, turns: number) {
    const log = join(folder, 'history.jsonl')
    const workers = Array.from({ length: PROCESSES }, (_, index) =>
      startWorker(program, {
        connectString: ensemble.connectString,
        path,
        log,
        name: `process${index}`,
        contenders: CONTENDERS_PER_PROCESS,
        clients: 2,
        turns,
        turn: 20,
        sessionTimeout: SESSION_TIMEOUT,
      }),
    )
    const nemesis = new Nemesis(ensemble)
    // A test that failed must not inject faults into the next one.
    onTestFinished(async () => {
      for (const worker of workers) worker.process.kill('SIGKILL')
      await nemesis.stop()
    })
    const codes = await Promise.all(workers.map(({ exited }) => exited))
    const killed = await nemesis.stop()
    const entries = readLog(log)
    return { codes, killed, entries, turns: turnsOf(entries) }
  }

  test(
    'Lock never has two holders, grants in order, and leaves nothing behind (L01)',
    { timeout: AT_MOST },
    async () => {
      const path = '/contention/lock'
      const { codes, killed, entries, turns } = await contend('lock', path, 4)

      expect(codes).toEqual(Array.from({ length: PROCESSES }, () => 0))
      expect(turns).toHaveLength(PROCESSES * CONTENDERS_PER_PROCESS * 4)
      expect(overlaps(turns)).toEqual([])
      expect(outOfOrder(turns)).toEqual([])
      expect(killed).toBeGreaterThan(0)
      await expectNothingLeft(ensemble, path)
      const lost = entries.filter(({ what, why }) => what === 'ended' && why !== 'finished').length
      console.info(
        `Lock: ${turns.length} turns, ${killed} nodes killed, ${lost} turns lost, longest gap ${longestGap(turns).toFixed(0)} ms`,
      )
    },
  )

  test(
    'SharedLock never has a writer beside another holder, and leaves nothing behind (R01)',
    { timeout: AT_MOST },
    async () => {
      const path = '/contention/shared'
      const { codes, killed, turns } = await contend('shared-lock', path, 8)

      expect(codes).toEqual(Array.from({ length: PROCESSES }, () => 0))
      expect(turns).toHaveLength(PROCESSES * CONTENDERS_PER_PROCESS * 8)
      expect(overlaps(turns)).toEqual([])
      expect(outOfOrder(turns)).toEqual([])
      const togetherWith = overlaps(turns.map((turn) => ({ ...turn, mode: 'exclusive' as const })))
      expect(togetherWith.length, 'readers that shared').toBeGreaterThan(0)
      expect(killed).toBeGreaterThan(0)
      await expectNothingLeft(ensemble, path)
      console.info(
        `SharedLock: ${turns.length} turns, ${killed} nodes killed, longest gap ${longestGap(turns).toFixed(0)} ms`,
      )
    },
  )
})

/** No contender's znode, and no watch at any server. */
async function expectNothingLeft(ensemble: Ensemble, path: string): Promise<void> {
  const zk = await connect(ensemble.connectString, { sessionTimeout: SESSION_TIMEOUT })
  try {
    await caughtUp(zk)
    const children = await zk.getChildren(path).then(
      (read) => read.children,
      // The server deletes a container that has been empty long enough.
      (error: unknown) => (KeeperError.is(error, 'NoNode') ? [] : Promise.reject(error as Error)),
    )
    expect(children).toEqual([])
  } finally {
    await zk.close()
  }
  await until('no ephemeral node and no watch at any server', async () => {
    const counts = await Promise.all(ensemble.nodes.map(async (node) => parseMntr(await node.ask('mntr'))))
    return counts.every((mntr) => mntr.get('zk_watch_count') === '0' && mntr.get('zk_ephemerals_count') === '0')
  })
}

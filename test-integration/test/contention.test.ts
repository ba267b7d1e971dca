import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, KeeperError } from '@zk/recipes'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { caughtUp } from './support/clients.ts'
import { type Ensemble, parseMntr, until } from '../src/ensemble/index.ts'
import { byPermit, longestGap, outOfOrder, overlaps, readLog, type Turn, turnsOf } from '../src/history/index.ts'
import { startWorker, type WorkerProgram } from '../src/workers/start.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { Nemesis } from './support/nemesis.ts'

const PROCESSES = 5
const CONTENDERS_PER_PROCESS = 10
const PERMITS = 3
const SESSION_TIMEOUT = 10_000
/** A generous bound in ms: on a slow machine every failover of the hundreds of turns counts. */
const AT_MOST = 180_000

interface Contention {
  readonly path: string
  /** The parents of the contenders' nodes. */
  readonly folders?: readonly string[]
  /** The turns of each contender. */
  readonly turns: number
  readonly permits?: number
  readonly linesOf?: (turns: Turn[]) => Turn[][]
}

describeEnsemble('Fifty contenders from five processes, while nodes are killed', (ensemble) => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zk-contention-'))
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await ensemble.mend()
  })

  /** Plays, checks what holds for every recipe, and returns the turns. `linesOf` gives the turns that exclude each other. */
  async function contend(
    program: WorkerProgram,
    { path, folders = [path], turns: each, permits, linesOf = (turns) => [turns] }: Contention,
  ): Promise<Turn[]> {
    const log = join(folder, 'history.jsonl')
    const workers = Array.from({ length: PROCESSES }, (_, index) =>
      startWorker(program, {
        connectString: ensemble.connectString,
        path,
        log,
        name: `process${index}`,
        contenders: CONTENDERS_PER_PROCESS,
        clients: 2,
        turns: each,
        turn: 20,
        sessionTimeout: SESSION_TIMEOUT,
        ...(permits !== undefined && { permits }),
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
    const turns = turnsOf(entries)

    expect(codes).toEqual(Array.from({ length: PROCESSES }, () => 0))
    expect(turns).toHaveLength(PROCESSES * CONTENDERS_PER_PROCESS * each)
    for (const line of linesOf(turns)) {
      expect(overlaps(line)).toEqual([])
      expect(outOfOrder(line)).toEqual([])
    }
    expect(killed).toBeGreaterThan(0)
    await expectNothingLeft(ensemble, folders)
    const lost = entries.filter(({ what, why }) => what === 'ended' && why !== 'finished').length
    console.info(
      `${program}: ${turns.length} turns, ${killed} nodes killed, ${lost} turns lost, longest gap ${longestGap(turns).toFixed(0)} ms`,
    )
    return turns
  }

  test(
    'Lock never has two holders, grants in order, and leaves nothing behind (L01)',
    { timeout: AT_MOST },
    async () => {
      await contend('lock', { path: '/contention/lock', turns: 4 })
    },
  )

  test(
    'SharedLock never has a writer beside another holder, and leaves nothing behind (R01)',
    { timeout: AT_MOST },
    async () => {
      const turns = await contend('shared-lock', { path: '/contention/shared', turns: 8 })
      const togetherWith = overlaps(turns.map((turn) => ({ ...turn, mode: 'exclusive' as const })))
      expect(togetherWith.length, 'readers that shared').toBeGreaterThan(0)
    },
  )

  test(
    'Semaphore never has two holders of one permit, grants each permit in order, and leaves nothing behind (P01)',
    { timeout: AT_MOST },
    async () => {
      const path = '/contention/semaphore'
      const folders = [`${path}/locks`, `${path}/leases`]
      const turns = await contend('semaphore', { path, folders, turns: 4, permits: PERMITS, linesOf: byPermit })
      // No permit has two holders, so these are never more than the permits.
      const used = new Set(turns.flatMap(({ permits = [] }) => permits))
      expect(used).toEqual(new Set(Array.from({ length: PERMITS }, (_, permit) => permit)))
    },
  )
})

/** No contender's znode below these paths, and no watch at any server. */
async function expectNothingLeft(ensemble: Ensemble, folders: readonly string[]): Promise<void> {
  const zk = await connect(ensemble.connectString, { sessionTimeout: SESSION_TIMEOUT })
  try {
    await caughtUp(zk)
    for (const path of folders) {
      const children = await zk.getChildren(path).then(
        (read) => read.children,
        // The server deletes a container that has been empty long enough.
        (error: unknown) => (KeeperError.is(error, 'NoNode') ? [] : Promise.reject(error as Error)),
      )
      expect(children).toEqual([])
    }
  } finally {
    await zk.close()
  }
  await until('no ephemeral node and no watch at any server', async () => {
    const counts = await Promise.all(ensemble.nodes.map(async (node) => parseMntr(await node.ask('mntr'))))
    return counts.every((mntr) => mntr.get('zk_watch_count') === '0' && mntr.get('zk_ephemerals_count') === '0')
  })
}

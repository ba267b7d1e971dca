// All kinds of faults at once: while processes use all recipes, a seed decides how servers and clients are harmed.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ZooKeeper } from '@zk/recipes'
import { Random } from '../random.ts'
import { parseMntr } from '@zk/conform/internal'
import { type Ensemble, until } from '../ensemble/index.ts'
import { append, machineTime, type Note, readLog } from '../history/index.ts'
import type { LinkedEnsemble } from '../links/linked-ensemble.ts'
import { type ClientFault, Crowd } from './crowd.ts'
import { childrenOf, insist } from './insist.ts'
import type { Verdict } from './recipe.ts'
import { RECIPES } from './recipes/index.ts'
import { harmServers, pause, type ServerFault, type OnFault } from './server-faults.ts'

export interface ChaosOptions {
  readonly seconds: number
  readonly seed: number
  readonly onFault?: OnFault
}

export interface ChaosReport {
  readonly faults: readonly (ServerFault | ClientFault)[]
  readonly verdicts: readonly Verdict[]
  /** Contenders that had not ended a turn long after the last fault of a phase. */
  readonly stuck: readonly string[]
  /** Processes that ended with an error. */
  readonly failures: readonly string[]
  /** Nodes and watches that remained after all processes had ended; should be empty. */
  readonly left: string
  /** For each phase the time from its last fault until every contender had ended a turn, in ms. */
  readonly recovered: readonly number[]
  /** The folder of the history. */
  readonly log: string
}

/** A phase has faults, and then peace until every contender has ended a turn; in ms. */
const PHASE = 60_000
/** The time that waiting contenders have for their turns, and sessions for their expiry, in ms. */
const END = 90_000

export async function chaos(linked: LinkedEnsemble, options: ChaosOptions): Promise<ChaosReport> {
  const { ensemble } = linked
  const { seconds, seed, onFault = () => {} } = options
  const { tickTime } = ensemble.description
  const { connectString } = ensemble
  const log = mkdtempSync(join(tmpdir(), 'zk-chaos-'))
  const path = `/chaos-${seed}-${Math.floor(machineTime())}`
  const sessionTimeout = { least: 2 * tickTime, most: 8 * tickTime }
  await visit(connectString, async (zk) => {
    for (const recipe of RECIPES) await recipe.prepare?.(zk, `${path}/${recipe.name}`)
  })
  // Two random streams: the schedule of each does not depend on the other.
  const random = { servers: new Random(seed), clients: new Random(seed + 1) }
  const crowd = new Crowd({ connectString, path, log, processes: 6, sessionTimeout, turn: 200 }, random.clients)
  const faults: (ServerFault | ClientFault)[] = []
  const recovered: number[] = []
  const stuck: string[] = []
  let stop = new AbortController()
  try {
    for (let left = seconds * 1_000; left > 0 && stuck.length === 0; left -= PHASE) {
      stop = new AbortController()
      const harming = [
        harmServers(linked, sessionTimeout, random.servers, stop.signal, onFault),
        crowd.harm(stop.signal, onFault),
      ] as const
      // A fault that cannot be injected ends the run.
      await Promise.race([pause(Math.min(PHASE, left), stop.signal), ...harming])
      stop.abort()
      const [servers, clients] = await Promise.all(harming)
      faults.push(...servers, ...clients)
      const stoppedAt = machineTime()
      stuck.push(...(await crowd.goOn(END)))
      recovered.push(machineTime() - stoppedAt)
    }
    stuck.push(...(await crowd.finish(END)))
    const left = await whatIsLeft(ensemble, path, log)
    const verdicts = RECIPES.map((recipe) => ({
      recipe: recipe.name,
      ...recipe.judge(readLog<Note>(join(log, `${recipe.name}.jsonl`))),
    }))
    return { faults, verdicts, stuck, failures: crowd.failures, left, recovered, log }
  } finally {
    stop.abort()
    crowd.kill()
  }
}

async function visit<T>(connectString: string, look: (zk: ZooKeeper) => Promise<T>): Promise<T> {
  await using zk = await connect(connectString, { connectTimeout: END })
  return await look(zk)
}

/**
 * The nodes that should not be there, and the watches and ephemeral nodes of all servers, as text; '' if there are none. Notes in
 * the logs what the recipes see at the end.
 */
async function whatIsLeft(ensemble: Ensemble, path: string, log: string): Promise<string> {
  let counted = ''
  const isClean = async (): Promise<boolean> => {
    const counts = await Promise.all(ensemble.nodes.map(async (node) => parseMntr(await node.ask('mntr'))))
    counted = counts
      .map((mntr) => `${mntr.get('zk_watch_count')} watches, ${mntr.get('zk_ephemerals_count')} ephemeral nodes`)
      .filter((line) => line !== '0 watches, 0 ephemeral nodes')
      .join('; ')
    return counted === ''
  }
  await until('nothing to be left', isClean, { timeout: END }).catch(() => false)
  return await visit(ensemble.connectString, async (zk) => {
    const found = counted === '' ? [] : [counted]
    for (const recipe of RECIPES) {
      const root = `${path}/${recipe.name}`
      const final = await recipe.atEnd?.(zk, root)
      if (final !== undefined) append<Note>(join(log, `${recipe.name}.jsonl`), final)
      const kept = new Set(recipe.keeps.map((each) => `${root}${each}`))
      found.push(...(await allNodes(zk, root)).filter((node) => !kept.has(node)))
    }
    return found.join(' ')
  })
}

/** The node and all below it. */
async function allNodes(zk: ZooKeeper, path: string): Promise<string[]> {
  if ((await insist(zk, (options) => zk.exists(path, options))) === undefined) return []
  const names = await childrenOf(zk, path)
  return [path, ...(await Promise.all(names.map((name) => allNodes(zk, `${path}/${name}`)))).flat()]
}

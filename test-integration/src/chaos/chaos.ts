// All kinds of faults at once: while clients contend for locks, a seed decides how servers and clients are harmed.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type HeldWhile, KeeperError } from '@zk/recipes'
import { Random } from '../differential/random.ts'
import { type Ensemble, parseMntr, until } from '../ensemble/index.ts'
import { machineTime } from '../history/index.ts'
import type { LinkedEnsemble } from '../links/linked-ensemble.ts'
import { type ClientFault, Crowd } from './crowd.ts'
import { judge, type Verdict } from './judge.ts'
import { RECIPES } from './recipes.ts'
import { harmServers, pause, type ServerFault, type OnFault } from './server-faults.ts'

export interface ChaosOptions {
  readonly seconds: number
  readonly seed: number
  /** @default 'confirmed' */
  readonly heldWhile?: HeldWhile
  readonly onFault?: OnFault
}

export interface ChaosReport {
  readonly faults: readonly (ServerFault | ClientFault)[]
  readonly verdicts: readonly Verdict[]
  /** Processes that had not ended their turns long after the last fault. */
  readonly stuck: readonly string[]
  /** Processes that ended with an error. */
  readonly failures: readonly string[]
  /** Nodes and watches that remained after all processes had ended; should be empty. */
  readonly left: string
  /** The time from the order to stop, when no fault is left, to the end of the last process, in ms. */
  readonly drained: number
  /** The folder of the history. */
  readonly log: string
}

/** The time that waiting contenders have for their turns, and sessions for their expiry, in ms. */
const END = 90_000

export async function chaos(linked: LinkedEnsemble, options: ChaosOptions): Promise<ChaosReport> {
  const { ensemble } = linked
  const { seconds, seed, heldWhile = 'confirmed', onFault = () => {} } = options
  const { tickTime } = ensemble.description
  const { connectString } = ensemble
  const log = mkdtempSync(join(tmpdir(), 'zk-chaos-'))
  const path = `/chaos-${seed}-${Math.floor(machineTime())}`
  const sessionTimeout = { least: 2 * tickTime, most: 8 * tickTime }
  // Two random streams: the schedule of each does not depend on the other.
  const crowd = new Crowd(
    { connectString, path, log, heldWhile, processes: 6, sessionTimeout, turn: 200 },
    new Random(seed + 1),
  )
  const stop = new AbortController()
  try {
    const harming = [
      harmServers(linked, sessionTimeout, new Random(seed), stop.signal, onFault),
      crowd.harm(stop.signal, onFault),
    ] as const
    // A fault that cannot be injected ends the run.
    await Promise.race([pause(seconds * 1_000, stop.signal), ...harming])
    stop.abort()
    const [servers, clients] = await Promise.all(harming)
    const stoppedAt = machineTime()
    const stuck = await crowd.finish(END)
    const drained = machineTime() - stoppedAt
    const left = await whatIsLeft(ensemble, path)
    const verdicts = RECIPES.map((recipe) => judge(recipe, join(log, `${recipe}.jsonl`)))
    return { faults: [...servers, ...clients], verdicts, stuck, failures: crowd.failures, left, drained, log }
  } finally {
    stop.abort()
    crowd.kill()
  }
}

/** The nodes below the path, and the watches and ephemeral nodes of all servers, as text; '' if there are none. */
async function whatIsLeft(ensemble: Ensemble, path: string): Promise<string> {
  let left = ''
  const isClean = async (): Promise<boolean> => {
    const counts = await Promise.all(ensemble.nodes.map(async (node) => parseMntr(await node.ask('mntr'))))
    left = counts
      .map((mntr) => `${mntr.get('zk_watch_count')} watches, ${mntr.get('zk_ephemerals_count')} ephemeral nodes`)
      .filter((line) => line !== '0 watches, 0 ephemeral nodes')
      .join('; ')
    return left === ''
  }
  await until('nothing to be left', isClean, { timeout: END }).catch(() => false)
  await using zk = await connect(ensemble.connectString, { connectTimeout: END })
  await zk.sync('/')
  for (const recipe of RECIPES) left += (await childrenOf(zk, `${path}/${recipe}`)).join(' ')
  return left
}

async function childrenOf(zk: Awaited<ReturnType<typeof connect>>, path: string): Promise<readonly string[]> {
  try {
    return (await zk.getChildren(path)).children
  } catch (error) {
    // The server deletes a container that was empty for long enough.
    if (KeeperError.is(error, 'NoNode')) return []
    throw error
  }
}

import { systemRuntime } from '@zk/client'
import { addressSeenBy, parseMntr, type Place, places, settings, type Stage, type Target } from '@zk/conform/internal'
import { type Ensemble, type EnsembleNode, until } from './ensemble/index.ts'

/** Real servers in containers. They play one scenario after another. */
export class RealTarget implements Target {
  readonly #ensemble: Ensemble

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble
  }

  async use<Result>(play: (stage: Stage) => Promise<Result>): Promise<Result> {
    const leader = await this.#ensemble.leader()
    const followers = this.#ensemble.nodes.filter(({ id }) => id !== leader.id)
    await noSessionsIn(leader)
    return play(new RealStage(this.#ensemble, [leader, ...followers]))
  }
}

/**
 * Waits until nothing happens any more. Other tests may leave empty containers, which servers delete at their next check:
 * those transactions would change the zxids of a scenario.
 */
export async function atRest(ensemble: Ensemble): Promise<void> {
  const leader = await ensemble.leader()
  await noSessionsIn(leader)
  let last: bigint | undefined
  let since = Infinity
  const isOld = async (): Promise<boolean> => {
    const zxid = (await leader.status())?.zxid
    if (zxid === undefined || zxid !== last) since = performance.now()
    last = zxid
    // The servers have checked since, and had nothing to delete.
    return performance.now() - since > 2 * settings.containerCheckInterval
  }
  await until('the last transaction', isOld)
}

/** Waits until there are no sessions, because their requests would change the zxids of a scenario. */
async function noSessionsIn(leader: EnsembleNode): Promise<void> {
  const isEmpty = async (): Promise<boolean> => (await sessionsOf(leader)) === 0
  await until('all sessions to end', isEmpty, { interval: 20, instead: () => leader.ask('cons') })
}

/** The number of all sessions, by the leader; undefined while it does not report it. */
async function sessionsOf(leader: EnsembleNode): Promise<number | undefined> {
  const metrics = parseMntr(await leader.ask('mntr'))
  // `mntr` has this number from 3.6 on. Before, only `dump` has it.
  const count =
    metrics.get('zk_global_sessions') ?? /^Session Sets \(\d+\)\/\((\d+)\):/m.exec(await leader.ask('dump'))?.[1]
  return count === undefined ? undefined : Number(count)
}

class RealStage implements Stage {
  readonly runtime = systemRuntime
  readonly base = ''
  readonly superUser = settings.superUser
  readonly #ensemble: Ensemble
  /** The nodes, in the order of `places`. */
  readonly #nodes: readonly EnsembleNode[]
  #isWhole = true

  constructor(ensemble: Ensemble, nodes: readonly EnsembleNode[]) {
    this.#ensemble = ensemble
    this.#nodes = nodes
  }

  clientAddress(): Promise<string | undefined> {
    return addressSeenBy(this.address('leader'), this.runtime)
  }

  address(place: Place): EnsembleNode {
    return this.#nodes[places.indexOf(place)]!
  }

  kill(place: Place): Promise<void> {
    return this.#harm(place).kill()
  }

  restart(place: Place): Promise<void> {
    return this.address(place).start()
  }

  freeze(place: Place): Promise<void> {
    return this.#harm(place).pause()
  }

  thaw(place: Place): Promise<void> {
    return this.address(place).unpause()
  }

  async elected(): Promise<void> {
    await this.#ensemble.leader()
  }

  async mended(): Promise<void> {
    if (!this.#isWhole) await this.#ensemble.mend()
    this.#isWhole = true
  }

  #harm(place: Place): EnsembleNode {
    this.#isWhole = false
    return this.address(place)
  }
}

// One server after the other is harmed, and mended again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../differential/random.ts'
import type { Ensemble, EnsembleNode } from '../ensemble/index.ts'

export type Tell = (what: string) => void

const kinds = ['kill', 'pause', 'partition', 'cut a follower off'] as const
export type ServerFault = (typeof kinds)[number]

/** How long a server is harmed, in ms. */
const HARM = { least: 500, most: 6_000 }
/**
 * No leader is harmed for so long, in ms: just when its followers have given it up it would be back, and they would come
 * back to it. Then 3.8.0 may never commit anything more: ZOOKEEPER-4685.
 */
const GIVEN_UP = { from: 1_500, to: 3_500 }
/** Between the mending of one and the harming of the next. */
const PEACE = 3_000

/** Until it is told to stop; then the ensemble is whole. Gives what was done, each once for each time. */
export async function harmServers(
  ensemble: Ensemble,
  random: Random,
  stop: AbortSignal,
  tell: Tell,
): Promise<ServerFault[]> {
  const done: ServerFault[] = []
  while (!stop.aborted) {
    // All of it is drawn at once, whatever becomes of it.
    const kind = random.pick(kinds)
    const isLeader = random.percent(50)
    const which = random.below(2)
    const drawn = HARM.least + random.below(HARM.most - HARM.least)
    const peace = random.below(PEACE)
    const leader = await ensemble.leader()
    const followers = await ensemble.followers()
    const follower = followers[which % followers.length] ?? leader
    const node = isLeader && kind !== 'cut a follower off' ? leader : follower
    const isTooClose = node === leader && drawn > GIVEN_UP.from && drawn < GIVEN_UP.to
    const harm = isTooClose ? GIVEN_UP.to : drawn
    tell(`zk${node.id} (${node === leader ? 'leader' : 'follower'}): ${kind}, for ${harm} ms`)
    await strike(kind, node, leader)
    done.push(kind)
    await sleep(harm)
    await ensemble.mend()
    await pause(peace, stop)
  }
  return done
}

async function strike(kind: ServerFault, node: EnsembleNode, leader: EnsembleNode): Promise<void> {
  switch (kind) {
    case 'kill':
      return await node.kill()
    case 'pause':
      return await node.pause()
    case 'partition':
      return await node.cutFromPeers()
    case 'cut a follower off':
      // Its clients and the third server still reach it.
      await Promise.all([node.blackhole(leader), leader.blackhole(node)])
  }
}

export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => {})
}

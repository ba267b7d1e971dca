// Harms one server after another, or the link of a follower to its leader, and then mends it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { EnsembleNode } from '../ensemble/index.ts'
import type { LinkedEnsemble } from '../links/linked-ensemble.ts'

export type OnFault = (what: string) => void

/** The shortest and the longest time, in ms. */
export interface Range {
  readonly least: number
  readonly most: number
}

const kinds = ['kill', 'pause', 'partition', 'cut a follower off', 'stall a link'] as const
export type ServerFault = (typeof kinds)[number]

/** The time for which a server is harmed, in ms. */
const HARM: Range = { least: 500, most: 6_000 }
/**
 * No leader is harmed for a time in this range, in ms. It would come back just when its followers have given it up, and they
 * would follow it again. Then 3.8.0 may never commit anything more: ZOOKEEPER-4685.
 */
const GIVEN_UP = { from: 1_500, to: 3_500 }
/** The longest pause after a server was mended, in ms. */
const LONGEST_PAUSE = 3_000
/** The longest stall in one direction, in session timeouts: packets then arrive after the session has ended. */
const STALL = 1.5

interface Stall {
  /** Whether the direction to the follower stalls first. */
  readonly isToFollower: boolean
  /** The stall of the first direction, and then of the other, in ms. The second may be 0. */
  readonly lengths: readonly [number, number]
}

/** Runs until `stop` is aborted; then no fault is left. Returns all faults that were injected, including repeated ones. */
export async function harmServers(
  linked: LinkedEnsemble,
  sessionTimeout: Range,
  random: Random,
  stop: AbortSignal,
  onFault: OnFault,
): Promise<ServerFault[]> {
  const { ensemble } = linked
  const done: ServerFault[] = []
  while (!stop.aborted) {
    // Draw all numbers first, so that the schedule depends only on the seed. Links stall most often, because leases depend
    // on them most.
    const kind = random.percent(40) ? 'stall a link' : random.pick(kinds)
    const isLeader = random.percent(50)
    const which = random.below(2)
    const drawn = HARM.least + random.below(HARM.most - HARM.least)
    const stall = drawStall(random, sessionTimeout)
    const peace = random.below(LONGEST_PAUSE)
    const leader = await ensemble.leader()
    const followers = await ensemble.followers()
    const follower = followers[which % followers.length] ?? leader
    if (kind === 'stall a link') {
      await stallLink(linked, leader, follower, stall, onFault)
    } else {
      const node = isLeader && kind !== 'cut a follower off' ? leader : follower
      const isTooClose = node === leader && drawn > GIVEN_UP.from && drawn < GIVEN_UP.to
      const harm = isTooClose ? GIVEN_UP.to : drawn
      onFault(`zk${node.id} (${node === leader ? 'leader' : 'follower'}): ${kind}, for ${harm} ms`)
      await strike(kind, linked, node, leader)
      await sleep(harm)
    }
    done.push(kind)
    await linked.mend()
    await pause(peace, stop)
  }
  return done
}

async function strike(
  kind: Exclude<ServerFault, 'stall a link'>,
  { links, ensemble }: LinkedEnsemble,
  node: EnsembleNode,
  leader: EnsembleNode,
): Promise<void> {
  // Held bytes arrive in the end, as in TCP.
  const separate = (other: EnsembleNode): void => {
    links.hold(node, other)
    links.hold(other, node)
  }
  switch (kind) {
    case 'kill':
      return await node.kill()
    case 'pause':
      return await node.pause()
    case 'partition':
      for (const other of ensemble.nodes) if (other !== node) separate(other)
      return
    case 'cut a follower off':
      // Its clients and the third server still reach it.
      separate(leader)
  }
}

function drawStall(random: Random, { least, most }: Range): Stall {
  const longest = Math.round(STALL * (least + random.below(most - least + 1)))
  const isToFollower = random.percent(60)
  const isTurned = random.percent(60)
  const lengths = [random.below(longest), random.below(longest)] as const
  return { isToFollower, lengths: [lengths[0], isTurned ? lengths[1] : 0] }
}

/** Stalls one direction, and then perhaps the other, without a pause in between. */
async function stallLink(
  { links }: LinkedEnsemble,
  leader: EnsembleNode,
  follower: EnsembleNode,
  { isToFollower, lengths: [first, second] }: Stall,
  onFault: OnFault,
): Promise<void> {
  const [from, to] = isToFollower ? [leader, follower] : [follower, leader]
  const then = second === 0 ? '' : `, then the other way for ${second} ms`
  onFault(`zk${from.id} to zk${to.id} (${isToFollower ? 'follower' : 'leader'}): held for ${first} ms${then}`)
  links.hold(from, to)
  await sleep(first)
  links.release(from, to)
  if (second === 0) return
  links.hold(to, from)
  await sleep(second)
}

export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => {})
}

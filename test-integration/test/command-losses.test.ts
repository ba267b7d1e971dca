// `zk lock` loses its lock in every way that is known: nothing of its command is left when another contender is granted.
//
//     ZK_LOSSES=300 pnpm test test-integration/test/command-losses    the long form: all faults, and so many losses
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Lock, type ZooKeeper } from '@zk/recipes'
import { afterEach, expect, test } from 'vitest'
import { type Ensemble, type EnsembleNode, until } from '../src/ensemble/index.ts'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startZk, type ZkCommand } from './support/zk-command.ts'

const LOSSES = Number(process.env['ZK_LOSSES'] ?? 0)
const SESSION_TIMEOUT = 4_000
const AT_ONCE = LOSSES > 0 ? 4 : 2

/** Two processes that ignore SIGTERM. The second one has left the session and the group of the first. */
const STUBBORN = `trap '' TERM; setsid sh -c "trap '' TERM; while :; do sleep 1; done" & while :; do sleep 1; done`

interface Fault {
  /** The server of the holders. */
  readonly at: 'leader' | 'follower'
  readonly strike: (struck: { holders: Holder[]; node: EnsembleNode; leader: EnsembleNode }) => unknown
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'SIGKILL for zk': { at: 'follower', strike: ({ holders }) => signal(holders, 'SIGKILL') },
  'SIGSTOP for zk': { at: 'follower', strike: ({ holders }) => signal(holders, 'SIGSTOP') },
  'its server frozen': { at: 'follower', strike: ({ node }) => node.pause() },
  'its server cut off from the others': { at: 'follower', strike: ({ node }) => node.cutFromPeers() },
  'packets to the leader dropped': { at: 'follower', strike: ({ node, leader }) => node.blackhole(leader) },
  'packets from the leader dropped': { at: 'follower', strike: ({ node, leader }) => leader.blackhole(node) },
  'SIGSTOP for the command, and its server frozen': {
    at: 'follower',
    strike: ({ holders, node }) => {
      for (const pid of processesOf(new Set(holders.map((holder) => holder.node)))) stop(pid)
      return node.pause()
    },
  },
  'its server, the leader, killed': { at: 'leader', strike: ({ node }) => node.kill() },
  'its server, the leader, cut off from the others': { at: 'leader', strike: ({ node }) => node.cutFromPeers() },
}
const IN_CI = ['SIGKILL for zk', 'SIGSTOP for zk', 'its server frozen', 'its server cut off from the others']

const names = LOSSES > 0 ? Object.keys(FAULTS) : IN_CI
const rounds = Math.ceil(LOSSES / names.length / AT_ONCE) || 1

interface Holder {
  readonly run: ZkCommand
  readonly lock: Lock
  /** The node that holds the lock. */
  readonly node: string
}

interface Loss {
  /** From the fault to the last moment at which a process of the command was seen, in ms. */
  readonly lastSeen: number
  /** From there to the grant of the next contender, in ms. */
  readonly untilGrant: number
  /** What was left of the lease when the last process had ended, as zk or the guardian says, in ms. */
  readonly leaseLeft: number | undefined
  /** Processes that were seen after the grant. */
  readonly overlapping: readonly number[]
}

describeEnsemble('zk lock that loses its lock', (ensemble) => {
  afterEach(() => ensemble.mend())

  test.each(names)(
    'zk lock leaves no process when the next contender is granted: %s',
    { timeout: 120_000 * (rounds + 1) },
    async (name) => {
      const losses: Loss[] = []
      for (let round = 0; round < rounds; round++) {
        losses.push(...(await lose(ensemble, FAULTS[name]!)))
        await ensemble.mend()
      }
      console.info(rowOf(name, losses))
      expect(losses.filter(({ overlapping }) => overlapping.length > 0)).toEqual([])
      // On a machine that is busy with other tests, the last process may end later. The next contender is not granted before that.
      if (LOSSES > 0) expect(losses.filter(({ leaseLeft = 0 }) => leaseLeft < 0)).toEqual([])
    },
  )
})

async function lose(ensemble: Ensemble, { at, strike }: Fault): Promise<Loss[]> {
  const chroot = await newChroot(ensemble)
  const leader = await ensemble.leader()
  const [follower] = await ensemble.followers()
  const node = at === 'leader' ? leader : follower!
  const others = ensemble.nodes.filter((other) => other !== node)
  const witness = await newClient(ensemble, { chroot, servers: others, sessionTimeout: 20_000 })
  const holders = await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => begin(node, chroot, witness, nth)))

  const seen = new Watcher(holders.map((holder) => holder.node))
  const struckAt = performance.now()
  await strike({ holders, node, leader })
  const grants = await Promise.all(
    holders.map(async ({ lock, node }) => {
      const held = await lock.acquire({ timeout: 60_000 })
      const at = performance.now()
      const overlapping = processesOf(new Set([node]))
      await held.release()
      return { at, overlapping }
    }),
  )
  seen.stop()
  signal(holders, 'SIGCONT')
  const ends = await Promise.all(holders.map(({ run }) => run.ended))
  // SIGKILL for zk itself.
  ends.forEach((end, nth) => expect([75, 'SIGKILL'], holders[nth]!.run.output()).toContain(end))
  return holders.map(({ run, node }, nth) => {
    const { at, overlapping } = grants[nth]!
    const last = seen.lastSeen(node)
    const said = /(\d+) ms (before the lease ends|after the lease has ended)/.exec(run.output())
    return {
      lastSeen: last - struckAt,
      untilGrant: at - last,
      leaseLeft: said === null ? undefined : Number(said[1]) * (said[2]!.startsWith('before') ? 1 : -1),
      overlapping,
    }
  })
}

async function begin(server: EnsembleNode, chroot: string, witness: ZooKeeper, nth: number): Promise<Holder> {
  const path = `/locks/job-${nth}`
  const lock = new Lock(witness, path)
  const options = ['--session-timeout', `${SESSION_TIMEOUT}ms`, '--timeout', '30s']
  const run = startZk([server], chroot, ['lock', path, ...options, '--', 'sh', '-c', STUBBORN])
  let node = ''
  await until('the command to run', async () => {
    const [holder] = await lock.contenders()
    node = holder?.path ?? ''
    return holder !== undefined && processesOf(new Set([node])).length >= 2
  })
  return { run, lock, node }
}

/** Its short-lived children may have ended meanwhile. */
function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGSTOP')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function signal(holders: readonly Holder[], name: NodeJS.Signals): void {
  for (const { run } of holders) run.child.kill(name)
}

/** When a process of each command was last seen. It looks all the time. */
class Watcher {
  readonly #last = new Map<string, number>()
  #isStopped = false

  constructor(nodes: readonly string[]) {
    void this.#watch(new Set(nodes))
  }

  lastSeen(node: string): number {
    return this.#last.get(node) ?? NaN
  }

  stop(): void {
    this.#isStopped = true
  }

  async #watch(nodes: ReadonlySet<string>): Promise<void> {
    while (!this.#isStopped) {
      for (const [, node] of marked(nodes)) this.#last.set(node, performance.now())
      await pause(50)
    }
  }
}

/** The processes of the commands that hold, or held, these nodes. */
function processesOf(nodes: ReadonlySet<string>): number[] {
  return marked(nodes).map(([pid]) => pid)
}

function marked(nodes: ReadonlySet<string>): [pid: number, node: string][] {
  return readdirSync('/proc').flatMap((pid) => {
    const mark = /^\d+$/.test(pid) ? /(?:^|\0)ZK_LOCK_NODE=([^\0]*)/.exec(environmentOf(pid))?.[1] : undefined
    return mark !== undefined && nodes.has(mark) ? [[Number(pid), mark]] : []
  })
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** A row of the table of losses. Times in ms. */
function rowOf(name: string, losses: readonly Loss[]): string {
  const overlaps = losses.filter(({ overlapping }) => overlapping.length > 0).length
  const least = (values: readonly number[]): string =>
    values.length === 0 ? '' : String(Math.round(Math.min(...values)))
  const leases = losses.flatMap(({ leaseLeft }) => leaseLeft ?? [])
  const latest = Math.round(Math.max(...losses.map(({ lastSeen }) => lastSeen)))
  const untilGrant = least(losses.map(({ untilGrant }) => untilGrant))
  return `| ${[name, losses.length, overlaps, latest, least(leases), untilGrant].join(' | ')} |`
}

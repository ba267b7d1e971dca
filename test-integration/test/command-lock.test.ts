// `zk lock` and `zk elect` as processes: their commands never run when another contender can hold the lock.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LeaderElection, Lock, type ZooKeeper } from '@zk/recipes'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { type EnsembleNode, until } from '../src/ensemble/index.ts'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startZk, type ZkCommand } from './support/zk-command.ts'

const PATH = '/locks/job'

/** Two processes that ignore SIGTERM. The second one has left the session and the group of the first. */
const STUBBORN = `trap '' TERM; setsid sh -c "trap '' TERM; while :; do sleep 1; done" & while :; do sleep 1; done`

function zkLock(servers: readonly EnsembleNode[], chroot: string, ...words: string[]): ZkCommand {
  return startZk(servers, chroot, ['lock', PATH, '--session-timeout', '4s', ...words])
}

function zkElect(servers: readonly EnsembleNode[], chroot: string, ...words: string[]): ZkCommand {
  return startZk(servers, chroot, ['elect', PATH, '--session-timeout', '4s', ...words])
}

/** The processes of the commands that hold, or held, the node. */
async function processesOf(node: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')))
  return pids.filter((_, index) => environments[index]!.split('\0').includes(`ZK_LOCK_NODE=${node}`))
}

/** The node of the command, once it runs with both of its processes. */
async function running(zk: ZooKeeper): Promise<string> {
  let node = ''
  await until('the command to run', async () => {
    const [holder] = await new Lock(zk, PATH).contenders()
    node = holder?.path ?? ''
    return holder !== undefined && (await processesOf(node)).length >= 2
  })
  return node
}

/** The process that kills the command when zk cannot do it. */
async function guardianOf({ child }: ZkCommand): Promise<number | undefined> {
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1').catch(() => '')
  for (const pid of children.trim().split(' ')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (command.includes('\0guard\0')) return Number(pid)
  }
  return undefined
}

describeEnsemble('zk lock', (ensemble) => {
  afterEach(() => ensemble.mend())

  test('zk lock ends its command when an operator deletes the node', async () => {
    const chroot = await newChroot(ensemble)
    const witness = await newClient(ensemble, { chroot })
    const run = zkLock(ensemble.nodes, chroot, '--', 'sh', '-c', STUBBORN)
    const node = await running(witness)
    await witness.delete(node)
    expect(await run.ended).toBe(75)
    expect(await processesOf(node)).toEqual([])
  })

  test('zk lock replaces a guardian that is killed', async () => {
    const chroot = await newChroot(ensemble)
    const witness = await newClient(ensemble, { chroot })
    const run = zkLock(ensemble.nodes, chroot, '--', 'sh', '-c', STUBBORN)
    const node = await running(witness)
    const first = await until('a guardian', () => guardianOf(run))
    process.kill(first, 'SIGKILL')
    await until('another one', async () => ((await guardianOf(run)) ?? first) !== first)
    run.child.kill('SIGKILL')
    await until('the command to end', async () => (await processesOf(node)).length === 0)
  })

  test('the guardian knows what to kill, also if zk is killed before it writes a line', async () => {
    const node = '/locks/job/of-a-test'
    const child = spawn('sh', ['-c', 'sleep 600'], { detached: true, env: { ...process.env, ZK_LOCK_NODES: node } })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    const family = { first: child.pid, since: 0, ownsGroup: true, node }
    const guardian = startZk([], '', [
      'guard',
      JSON.stringify({ family, leaseEnd: Date.now() + 600_000, reserve: 100 }),
    ])
    expect(await guardian.ended).toBe(0)
    expect(await ended).toEqual([null, 'SIGKILL'])
  })

  test('zk lock ends its command as soon as a machine wakes up that was suspended for longer than the lease', async () => {
    const chroot = await newChroot(ensemble)
    const witness = await newClient(ensemble, { chroot })
    const run = zkLock(ensemble.nodes, chroot, '--', 'sh', '-c', STUBBORN)
    const node = await running(witness)
    const all = [...(await processesOf(node)).map(Number), await guardianOf(run), run.child.pid]
    for (const pid of all) process.kill(pid!, 'SIGSTOP')
    await using _held = await new Lock(witness, PATH).acquire()
    for (const pid of all) process.kill(pid!, 'SIGCONT')
    expect(await run.ended, run.output()).toBe(75)
    expect(await processesOf(node)).toEqual([])
  })

  test.each([
    ['forward ends the command: the machine may have been suspended', 3_600_000, 75],
    ['back changes nothing', -3_600_000, 7],
  ])('zk lock: a clock that jumps an hour %s', async (_, jump, code) => {
    const folder = await mkdtemp(join(tmpdir(), 'zk-clock-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [clock, jumped] = [join(folder, 'clock.mjs'), join(folder, 'jumped')]
    await writeFile(
      clock,
      `import { existsSync } from 'node:fs'
const now = Date.now
Date.now = () => now() + (existsSync('${jumped}') ? ${jump} : 0)`,
    )
    const chroot = await newChroot(ensemble)
    const witness = await newClient(ensemble, { chroot })
    // Longer than the lease, which is renewed by the clock that has jumped.
    const script = `sleep 6 & until [ -e ${jumped} ]; do sleep 0.1; done; sleep 5; kill $!; exit 7`
    const words = ['lock', PATH, '--session-timeout', '4s', '--', 'sh', '-c', script]
    const run = startZk(ensemble.nodes, chroot, words, '', { environment: { NODE_OPTIONS: `--import=${clock}` } })
    await running(witness)
    await writeFile(jumped, '')
    expect(await run.ended, run.output()).toBe(code)
  })

  test('zk lock that waits says so when no server answers, and when one does again', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    const held = await new Lock(zk, PATH).acquire()
    const [server] = await ensemble.followers()
    const waiting = startZk([server!], chroot, ['lock', PATH, '--', 'echo', 'it runs'])
    await until('it to wait', async () => (await new Lock(zk, PATH).contenders()).length === 2)
    await server!.kill()
    await until('it to say so', async () => waiting.output() === 'zk: no server answers: trying again\n')
    await ensemble.mend()
    await until('the other line', async () => waiting.output().includes(`zk: connected to ${server!.address}\n`))
    await held.release()
    expect(await waiting.ended, waiting.output()).toBe(0)
  })

  test.each([
    [['sh', '-c', 'exit 7'], 7],
    [['sh', '-c', 'kill -USR1 $$'], 128 + 10],
    [['/no/such/command'], 127],
    [['/etc/passwd'], 126],
  ])('zk lock ends with the exit code of its command: %j', async (command, code) => {
    const chroot = await newChroot(ensemble)
    const run = zkLock(ensemble.nodes, chroot, '--', ...command)
    expect(await run.ended, run.output()).toBe(code)
    const zk = await newClient(ensemble, { chroot })
    expect(await new Lock(zk, PATH).contenders()).toEqual([])
  })

  test('zk lock tells its command what it holds, and passes signals to it', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    const script = `echo "$ZK_LOCK_TOKEN $ZK_LOCK_PATH"; trap 'echo usr1' USR1; trap 'echo term; exit 5' TERM; sleep 0.1 & echo ready; while :; do sleep 0.1; done`
    const run = zkLock(ensemble.nodes, chroot, '--', 'sh', '-c', script)
    await until('the command to start', async () => run.output().includes('ready'))
    const { stat } = await zk.getData((await new Lock(zk, PATH).contenders())[0]!.path)
    expect(run.output()).toContain(`${stat.czxid} ${PATH}\n`)
    run.child.kill('SIGUSR1')
    await until('USR1 to arrive', async () => run.output().includes('usr1'))
    run.child.kill('SIGTERM')
    expect(await run.ended, run.output()).toBe(5)
    expect(run.output()).toContain('term')
  })

  test('zk lock that does not get the lock in time, or is told to end, leaves no node and runs nothing', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    const held = await new Lock(zk, PATH).acquire()
    const print = ['--', 'echo', 'it runs']
    const busy = [
      [zkLock(ensemble.nodes, chroot, '-n', ...print), 1],
      [zkLock(ensemble.nodes, chroot, '-w', '300ms', '-E', '9', ...print), 9],
    ] as const
    for (const [run, code] of busy) expect(await run.ended, run.output()).toBe(code)
    const waiting = zkLock(ensemble.nodes, chroot, ...print)
    await until('it to wait', async () => (await new Lock(zk, PATH).contenders()).length === 2)
    waiting.child.kill('SIGTERM')
    expect(await waiting.ended).toBe(128 + 15)
    expect(await new Lock(zk, PATH).contenders()).toHaveLength(1)
    expect([waiting, ...busy.map(([run]) => run)].map((run) => run.output()).join('')).not.toContain('it runs')
    await held.release()
  })

  test('zk lock --slot runs its command until it ends with 0, and then no more in this slot', async () => {
    const chroot = await newChroot(ensemble)
    const runs: (readonly [string, string, number, boolean])[] = [
      ['monday', 'echo it runs; exit 3', 3, true],
      ['monday', 'echo it runs', 0, true],
      ['monday', 'echo it runs', 0, false],
      ['tuesday', 'echo it runs', 0, true],
    ]
    for (const [slot, script, code, isRun] of runs) {
      const run = zkLock(ensemble.nodes, chroot, '--slot', slot, '--', 'sh', '-c', script)
      expect(await run.ended, run.output()).toBe(code)
      expect(run.output().includes('it runs')).toBe(isRun)
    }
  })

  test('zk elect starts its command again when it ends, and another host takes over when it is told to end', async () => {
    const chroot = await newChroot(ensemble)
    const client = await newClient(ensemble, { chroot })
    const first = zkElect(ensemble.nodes, chroot, '--', 'sh', '-c', 'echo run; sleep 0.2; exit 3')
    await until('it to run twice', async () => first.output().split('run\n').length > 2)
    const second = zkElect(ensemble.nodes, chroot, '--', 'sh', '-c', 'echo second; while :; do sleep 1; done')
    await until('it to wait', async () => (await new LeaderElection(client, PATH).contenders()).length === 2)
    expect(second.output()).not.toContain('second')
    first.child.kill('SIGTERM')
    expect(await first.ended, first.output()).toBe(128 + 15)
    await until('the second one to run', async () => second.output().includes('second'))
    second.child.kill('SIGINT')
    expect(await second.ended, second.output()).toBe(128 + 2)
    expect(await new LeaderElection(client, PATH).contenders()).toEqual([])
  })

  test('zk elect leaves the leadership to others if its command cannot be run', async () => {
    const chroot = await newChroot(ensemble)
    const run = zkElect(ensemble.nodes, chroot, '--', '/no/such/command')
    expect(await run.ended).toBe(127)
  })
})

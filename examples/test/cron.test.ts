// What docs/guide/cron.md says, with processes that are killed, and in virtual time.
import { type ChildProcess, spawn } from 'node:child_process'
import { once as nextEvent } from 'node:events'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { connect, sleep, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble, VirtualWorld } from '@zk/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { doEvery, refresh } from '../src/guide/cron.ts'

describe('nightly.ts', () => {
  const program = fileURLToPath(new URL('../dist/guide/nightly.js', import.meta.url))
  let ensemble: TestEnsemble

  beforeEach(async () => {
    ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
  })
  afterEach(async () => await ensemble.close())

  /** Starts the job on one more host. `work` is how long its report takes, in ms. */
  function start(work: number) {
    const child: ChildProcess = spawn(process.execPath, [program, ensemble.connectString, String(work)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const host = { child, output: '', ended: nextEvent(child, 'exit') }
    child.stdout!.on('data', (chunk) => (host.output += String(chunk)))
    return host
  }

  const record = () => JSON.parse(new TextDecoder().decode(ensemble.nodes.get('/jobs/report/done')?.data)) as object

  test('runs on one of five hosts', async () => {
    const hosts = Array.from({ length: 5 }, () => start(100))
    expect(await Promise.all(hosts.map(({ ended }) => ended))).toEqual(hosts.map(() => [0, null]))
    const date = (record() as { slot: string }).slot
    const idle = Array.from({ length: 4 }, () => `written by ${hostname()}\n`)
    expect(hosts.map(({ output }) => output).sort()).toEqual([...idle, `writes ${date}\nwritten\n`].sort())
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('runs on another host if the first is killed', async () => {
    const first = start(60_000)
    await expect.poll(() => first.output).toMatch(/^writes/)
    const second = start(0)
    await expect.poll(() => ensemble.nodes.get('/jobs/report')?.children).toHaveLength(2)
    first.child.kill('SIGKILL')
    expect(await second.ended).toEqual([0, null])
    expect(second.output).toMatch(/^writes .*\nwritten\n$/)
    expect(record()).toMatchObject({ label: hostname() })
  })
})

describe('doEvery', () => {
  const MINUTE = 60_000

  test('does the work once in each period, in one of three processes, also if one fails and one dies', async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warnings.mockRestore())
    const world = new VirtualWorld({ seed: 1 })
    const runs: string[] = []
    await world.run(async () => {
      const stopping = new AbortController()
      const processes = [world.runtime, world.addProcess(), world.addProcess()]
      processes[1]!.setWallClock(7 * MINUTE) // of no importance
      const clients: ZooKeeper[] = []
      const loops = processes.map(async (runtime, index) => {
        const zk = await connect(world.connectString, { runtime })
        clients[index] = zk
        let attempts = 0
        const work = async () => {
          if (index === 0 && attempts++ === 1) throw new Error('the disk is full')
          await sleep(runtime, 1_000)
          runs.push(new Date(world.runtime.wallNow()).toISOString().slice(11, 15))
        }
        await doEvery(zk, 10 * MINUTE, work, stopping.signal)
      })
      await sleep(world.runtime, 25 * MINUTE)
      processes[2]!.kill('machine')
      await sleep(world.runtime, 24.5 * MINUTE)
      stopping.abort()
      await Promise.all(loops.slice(0, 2))
      await Promise.all(clients.slice(0, 2).map((zk) => zk.close()))
    })
    expect(runs).toEqual(['00:0', '00:1', '00:2', '00:3', '00:4'])
    expect(warnings.mock.calls).toEqual([['the job was not done', new Error('the disk is full')]])
  })
})

test('refresh does nothing while another process refreshes', async () => {
  const world = new VirtualWorld({ seed: 1 })
  await world.run(async () => {
    const [one, other] = await Promise.all(
      [world.runtime, world.addProcess()].map((runtime) => connect(world.connectString, { runtime })),
    )
    const first = refresh(one!, () => sleep(one!.runtime, 1_000))
    await sleep(one!.runtime, 500)
    expect(await refresh(other!, () => Promise.resolve())).toBe(false)
    expect(await first).toBe(true)
    expect(await refresh(other!, () => Promise.resolve())).toBe(true)
    await Promise.all([one!.close(), other!.close()])
  })
})

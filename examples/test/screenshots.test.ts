// The screenshots in README.md: what the programs print, in virtual time, so that it is the same on every machine.
import { connect, sleep } from '@zk/recipes'
import { VirtualWorld } from '@zk/testing'
import { expect, test } from 'vitest'
import { expectScreenshot } from '../../test/screenshot.ts'
import { CONTENDERS, Referee, TURN } from '../src/demo/referee.ts'
import { finishTurn } from '../src/demo/turn.ts'
import { loseLock } from '../src/lost-lock.ts'
import { inColour } from '../src/paint.ts'

test('README.md shows the demo', async () => {
  const lines = await playDemo()
  const kill = lines.findIndex((line) => line.includes('is killed'))
  const verdict = lines.findLastIndex((line) => line.startsWith('\n'))
  expect(kill).toBeGreaterThan(0)
  expectScreenshot('docs/demo.svg', {
    title:
      'The demo: ten processes take turns on a lock while the leader of the ensemble is killed, and the lock holds.',
    text: ['$ pnpm demo', lines[0], '  …', ...lines.slice(kill - 2, kill + 6), '  …', ...lines.slice(verdict)].join(
      '\n',
    ),
    columns: 80,
  })
})

test('README.md shows what a process is told when it waits in vain, and when its lock is lost', async () => {
  const lines: string[] = []
  await loseLock((line) => lines.push(line), inColour)
  expectScreenshot('docs/lost-lock.svg', {
    title:
      'A process that waits in vain for a lock is told who holds it. A holder that is cut off is told that its lock is lost, before another process gets it.',
    text: ['$ node examples/dist/lost-lock.js', ...lines].join('\n'),
    columns: 110,
  })
})

/** The demo, with ten processes and three servers of a virtual world. Returns what it printed. */
async function playDemo(): Promise<string[]> {
  const lines: string[] = []
  const world = new VirtualWorld({ seed: 1, latency: 1 })
  const referee = new Referee((line) => lines.push(line), 0, inColour)
  referee.begin(world.connectString)
  let disturbed: Promise<void> | undefined

  async function killLeader(): Promise<void> {
    const { ensemble } = world
    const leader = ensemble.leader!
    leader.kill()
    referee.tellServers(world.now, `the ensemble's leader, ${leader.name}, is killed`)
    while (!ensemble.isServing || ensemble.leader === leader) await sleep(world.runtime, 1)
    referee.tellServers(world.now, `${ensemble.leader!.name} leads now`)
  }

  async function contend(number: number): Promise<void> {
    const label = `contender ${number}`
    const zk = await connect(world.connectString, { runtime: world.addProcess(), sessionTimeout: 10_000 })
    await finishTurn(zk, {
      path: '/zk-demo/lock',
      label,
      turn: TURN,
      now: () => world.now,
      send: (report) => {
        referee.heard(label, report)
        if (referee.finished >= CONTENDERS / 2) disturbed ??= killLeader()
      },
    })
    await zk.close()
  }

  await world.run(async () => {
    await Promise.all(Array.from({ length: CONTENDERS }, (_, number) => contend(number)))
    await disturbed
  })
  referee.judge(0)
  return lines
}

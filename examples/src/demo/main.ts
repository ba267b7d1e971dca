// Ten processes take turns on one lock of a real ZooKeeper ensemble, and its leader is killed half-way.
//
//     pnpm demo                            on three servers in containers, started for it (needs Docker)
//     pnpm demo --connect host:port,…      on an ensemble of yours, whose leader is left alone
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Ensemble, reachDocker } from '@zk/test-integration/ensemble'
import { longestGap, machineTime, outOfOrder, overlaps, type Turn } from '@zk/test-integration/history'
import type { Report } from './report.ts'

const CONTENDERS = 10
const TURN = 400
const startedAt = machineTime()
const contenderProgram = fileURLToPath(new URL('contender.js', import.meta.url))

const { values } = parseArgs({ options: { connect: { type: 'string' } } })
if (values.connect === undefined) await onContainers()
else await takeTurns(values.connect, async () => {})

async function onContainers(): Promise<void> {
  const docker = await reachDocker()
  if (!docker.reachable) {
    console.error(`The demo starts three ZooKeeper servers in containers. ${docker.reason}`)
    console.error('Or name servers of yours: pnpm demo --connect host:port,host:port')
    process.exitCode = 1
    return
  }
  console.log('Starting three ZooKeeper servers in containers …')
  const ensemble = await Ensemble.start()
  try {
    await takeTurns(ensemble.connectString, async () => {
      const leader = await ensemble.leader()
      say('      ', `the ensemble's leader, zk${leader.id} at ${leader.address}, is killed`)
      await leader.kill()
      const next = await ensemble.leader({ except: leader })
      say('      ', `zk${next.id} leads now`)
    })
  } finally {
    await ensemble.stop()
  }
}

function say(who: string, what: string, at = machineTime()): void {
  console.log(`${((at - startedAt) / 1000).toFixed(3).padStart(8)} s  ${who}  ${what}`)
}

async function takeTurns(connectString: string, disturb: () => Promise<void>): Promise<void> {
  console.log(`${CONTENDERS} processes take turns of ${TURN} ms on ${connectString}`)
  const path = `/zk-demo/${process.pid}-${Math.floor(startedAt)}/lock`
  const turns: Turn[] = []
  let finished = 0
  let disturbed: Promise<void> | undefined
  const processes = Array.from({ length: CONTENDERS }, (_, number) => {
    const who = `contender ${number}`
    const child = fork(contenderProgram, [connectString, path, who, String(TURN)])
    let from = 0
    child.on('message', (report: Report) => {
      narrate(who, report)
      const token = BigInt(report.token)
      if (report.type === 'gained') from = report.at
      else turns.push({ who, mode: 'exclusive', token, from, until: report.at })
      if (report.type === 'finished' && ++finished === CONTENDERS / 2) disturbed = disturb()
    })
    return child
  })
  const codes = await Promise.all(processes.map(exitOf))
  await disturbed
  judge(turns, finished, codes)
}

function narrate(who: string, report: Report): void {
  const token = `fencing token 0x${BigInt(report.token).toString(16)}`
  if (report.type === 'gained') say(who, `gains     ${token}`, report.at)
  if (report.type === 'finished') say(who, `finishes  ${token}`, report.at)
  if (report.type === 'lost') say(who, `loses it  ${token}: ${report.why}; it queues again`, report.at)
}

function judge(turns: readonly Turn[], finished: number, codes: readonly (number | null)[]): void {
  const failures = codes.filter((code) => code !== 0).length
  const atOnce = overlaps(turns).length
  const disordered = outOfOrder(turns).length
  const held = finished === CONTENDERS && failures === 0 && atOnce === 0 && disordered === 0
  console.log(
    [
      '',
      `${finished} of ${CONTENDERS} finished, in ${turns.length} turns; ${failures} processes failed`,
      `exclusion: ${atOnce} turns overlapped`,
      `order: ${disordered} turns out of order (fencing tokens rise)`,
      `longest time without a holder: ${longestGap(turns).toFixed(0)} ms`,
      held ? 'The lock held.' : 'THE LOCK DID NOT HOLD.',
    ].join('\n'),
  )
  if (!held) process.exitCode = 1
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
}

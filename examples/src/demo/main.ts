// Ten processes take turns with one lock of a ZooKeeper ensemble. After half of the turns its leader is killed.
//
//     pnpm demo                            on three servers of @zk/testing: needs nothing but Node
//     pnpm demo --ensemble                 on three real servers in containers, started for it (needs Docker)
//     pnpm demo --connect host:port,…      on an ensemble of yours, whose leader is left alone
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { longestGap, machineTime, outOfOrder, overlaps, type Turn } from '@zk/test-integration/history'
import type { Report } from './report.ts'
import { at, embedded, inContainers, type Servers } from './servers.ts'

const CONTENDERS = 10
const TURN = 300
const startedAt = machineTime()
const contenderProgram = fileURLToPath(new URL('contender.js', import.meta.url))

const { values } = parseArgs({ options: { connect: { type: 'string' }, ensemble: { type: 'boolean' } } })
try {
  const servers = await chosenServers()
  try {
    await takeTurns(servers)
  } finally {
    await servers.stop()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function chosenServers(): Promise<Servers> | Servers {
  if (values.connect !== undefined) return at(values.connect)
  return values.ensemble ? inContainers() : embedded()
}

function say(source: string, what: string, at = machineTime()): void {
  console.log(`${((at - startedAt) / 1000).toFixed(3).padStart(8)} s  ${source}  ${what}`)
}

async function takeTurns({ connectString, killLeader }: Servers): Promise<void> {
  console.log(`${CONTENDERS} processes take turns of ${TURN} ms on ${connectString}`)
  const path = `/zk-demo/${process.pid}-${Math.floor(startedAt)}/lock`
  const turns: Turn[] = []
  let finished = 0
  let disturbed: Promise<void> | undefined
  const processes = Array.from({ length: CONTENDERS }, (_, number) => {
    const contender = `contender ${number}`
    const child = fork(contenderProgram, [connectString, path, contender, String(TURN)])
    let from = 0
    child.on('message', (report: Report) => {
      narrate(contender, report)
      const token = BigInt(report.token)
      if (report.type === 'gained') from = report.at
      else turns.push({ contender, mode: 'exclusive', token, from, until: report.at })
      if (report.type === 'finished' && ++finished === CONTENDERS / 2)
        disturbed = killLeader?.((what) => say('      ', what))
    })
    return child
  })
  const codes = await Promise.all(processes.map(exitOf))
  await disturbed
  judge(turns, finished, codes)
}

function narrate(contender: string, report: Report): void {
  const token = `fencing token 0x${BigInt(report.token).toString(16)}`
  if (report.type === 'gained') say(contender, `gains     ${token}`, report.at)
  if (report.type === 'finished') say(contender, `finishes  ${token}`, report.at)
  if (report.type === 'lost') say(contender, `loses it  ${token}: ${report.why}; it queues again`, report.at)
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

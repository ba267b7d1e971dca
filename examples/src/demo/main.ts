// Ten processes take turns with one lock of a ZooKeeper ensemble. After half of the turns its leader is killed.
//
//     pnpm demo                            on three servers of @zk/testing: needs nothing but Node
//     pnpm demo --ensemble                 on three real servers in containers, started for it (needs Docker)
//     pnpm demo --connect host:port,…      on an ensemble of yours, whose leader is left alone
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machineTime } from '@zk/test-integration/history'
import { paint } from '../paint.ts'
import { CONTENDERS, Referee, TURN } from './referee.ts'
import { at, embedded, inContainers, type Servers } from './servers.ts'
import type { Report } from './turn.ts'

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

async function takeTurns({ connectString, killLeader }: Servers): Promise<void> {
  const referee = new Referee(console.log, startedAt, paint)
  referee.begin(connectString)
  const path = `/zk-demo/${process.pid}-${Math.floor(startedAt)}/lock`
  let disturbed: Promise<void> | undefined
  const processes = Array.from({ length: CONTENDERS }, (_, number) => {
    const contender = `contender ${number}`
    const child = fork(contenderProgram, [connectString, path, contender, String(TURN)])
    child.on('message', (report: Report) => {
      referee.heard(contender, report)
      if (referee.finished < CONTENDERS / 2) return
      disturbed ??= killLeader?.((what) => referee.tellServers(machineTime(), what))
    })
    return child
  })
  const codes = await Promise.all(processes.map(exitOf))
  await disturbed
  if (!referee.judge(codes.filter((code) => code !== 0).length)) process.exitCode = 1
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
}

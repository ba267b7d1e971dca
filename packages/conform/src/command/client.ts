// `conform client`: judges a client of any language. Our ensemble is the server, on ports of this machine.
import { setTimeout as pause } from 'node:timers/promises'
import { systemRuntime } from '@zk/client'
import { TestEnsemble } from '@zk/testing'
import type { ClientLog } from '../client/client-log.ts'
import { duties, dutyId } from '../client/duties.ts'
import { prepare, work } from '../client/exercise.ts'
import { judgeClient, type PlayedSituation } from '../client/judge-client.ts'
import { administered, Play } from '../client/play.ts'
import { type Situation, situations } from '../client/situations.ts'
import { reportOf } from '../report/index.ts'
import { EXIT } from './exit.ts'
import type { Options } from './options.ts'
import { Adapter, Program } from './program.ts'
import { exitCodeOf, readBaseline, writeReports } from './server.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

const CONNECT = '{connect}'
/** How long a program may take to connect, and an adapter to prepare, in ms. */
const CONNECT_WITHIN = 15_000
/** Waits in some situations are as long as the session timeout. */
const LONGEST_TIMEOUT = 4_000
const WISHED = 3_000

const dutyIds: ReadonlySet<string> = new Set(duties.map(dutyId))

interface Result {
  readonly log: ClientLog
  /** What the program did that it should not do; undefined if nothing. */
  readonly problem: string | undefined
  readonly hasConnected: boolean
}

/** Returns the exit code. */
export async function judgeProgram(command: readonly string[], options: Options, terminal: Terminal): Promise<number> {
  const { isAdapter } = options
  checkCommand(command, isAdapter)
  const chosen = situationsOf(options)
  const baseline = await readBaseline(options, dutyIds)
  const { signal, release } = terminal.interrupted()
  const played: PlayedSituation[] = []
  let stopped = false
  try {
    for (const situation of chosen) {
      if (terminal.isInteractive) terminal.status(`${played.length} of ${chosen.length} situations  ${situation.name}`)
      const { log, problem, hasConnected } = await playOn(situation, command, options, signal)
      if (signal.aborted) {
        terminal.error('conform: interrupted; the program is ended')
        return EXIT.interrupted
      }
      if (problem !== undefined) terminal.error(`conform: ${situation.name}: ${problem}`)
      if (!hasConnected) return isAdapter || problem?.includes('ended') ? EXIT.stopped : EXIT.unreachable
      if (problem !== undefined && isAdapter) stopped = true
      played.push({ name: situation.name, log })
    }
  } finally {
    if (terminal.isInteractive) terminal.status('')
    release()
  }
  const judgement = judgeClient(played)
  const report = reportOf(judgement, command.join(' '), terminal.now())
  const again = isAdapter ? 'conform client --adapter' : 'conform client'
  await writeReports(report, baseline, options, terminal, `${again} --situations 'NAME' -- ${command.join(' ')}`)
  const unseen = judgement.clauses.filter(({ verdict }) => verdict.outcome === 'unchecked')
  if (unseen.length > 0) terminal.error(`not seen, so not judged: ${unseen.map(({ id }) => id).join(', ')}`)
  return stopped ? EXIT.stopped : exitCodeOf(report, baseline, terminal)
}

function checkCommand(command: readonly string[], isAdapter: boolean): void {
  if (command.length === 0) throw new UsageError(`it needs a command: conform client -- node service.js ${CONNECT}`)
  if (!isAdapter && !command.some((word) => word.includes(CONNECT))) {
    throw new UsageError(`the command needs ${CONNECT}, where the addresses of the servers are put`)
  }
}

function situationsOf({ isAdapter, situations: names }: Options): readonly Situation[] {
  const possible = situations.filter(({ isActive = false }) => isAdapter || !isActive)
  if (names === undefined) return possible
  return names.map((name) => {
    const situation = situations.find((each) => each.name === name)
    if (situation === undefined) {
      throw new UsageError(
        `there is no situation '${name}': it is one of ${situations.map((each) => each.name).join(', ')}`,
      )
    }
    if (!possible.includes(situation)) throw new UsageError(`the situation '${name}' needs --adapter`)
    return situation
  })
}

async function playOn(
  situation: Situation,
  command: readonly string[],
  options: Options,
  signal: AbortSignal,
): Promise<Result> {
  const ensemble = await TestEnsemble.start({
    members: 3,
    tickTime: 500,
    ...administered,
    maxSessionTimeout: situation.maxSessionTimeout ?? LONGEST_TIMEOUT,
  })
  try {
    return await playAt(ensemble, situation, command, options, signal)
  } finally {
    await ensemble.close()
  }
}

async function playAt(
  ensemble: TestEnsemble,
  situation: Situation,
  command: readonly string[],
  { isAdapter, longest }: Options,
  signal: AbortSignal,
): Promise<Result> {
  const words = command.map((word) => word.replaceAll(CONNECT, ensemble.connectString))
  const program = await Program.start(words, isAdapter)
  const adapter = isAdapter ? new Adapter(program) : undefined
  let deadline = Infinity
  const failure = (): Error | undefined => {
    if (signal.aborted) return new Error('interrupted')
    if (adapter?.failure !== undefined) return adapter.failure
    if (program.end !== undefined) return new Error(`the program ${program.end}`)
    return ensemble.now > deadline ? new Error('the time of --for is over') : undefined
  }
  const play = new Play({
    ensemble,
    now: () => ensemble.now,
    elapse: (ms) => pause(ms),
    runtime: systemRuntime,
    failure,
  })
  let problem: string | undefined
  let hasConnected = false
  let isOver = false
  try {
    const done = adapter === undefined ? undefined : exercise(adapter, ensemble.connectString, situation, () => isOver)
    const failed = done?.then(
      () => undefined,
      (error: Error) => void (adapter!.failure ??= error),
    )
    hasConnected = await play.ready(isAdapter, CONNECT_WITHIN)
    if (!hasConnected)
      problem = isAdapter
        ? `the adapter did not do within 15 s what it was asked${adapter?.open === undefined ? '' : `: ${adapter.open} is not answered`}`
        : 'the program did not connect within 15 s'
    else {
      deadline = ensemble.now + longest
      await play.play(situation.play)
    }
    isOver = true
    await Promise.race([failed, pause(LONGEST_TIMEOUT)])
    play.ending(isAdapter && hasConnected)
    if (adapter !== undefined && hasConnected) await close(adapter)
  } catch (error) {
    problem = (error as Error).message
    play.ending(false)
  } finally {
    isOver = true
    await program.stop()
  }
  // The servers must see that the connections are closed.
  await pause(50)
  return { log: play.log(), problem, hasConnected }
}

async function exercise(
  adapter: Adapter,
  servers: string,
  { isBusy = false }: Situation,
  isOver: () => boolean,
): Promise<void> {
  await prepare(adapter.ask, servers, WISHED)
  for (let round = 1; isBusy && !isOver() && adapter.failure === undefined; round++) {
    await work(adapter.ask, round)
    await pause(50)
  }
}

async function close(adapter: Adapter): Promise<void> {
  const isClosed = await Promise.race([
    adapter.ask({ op: 'close' }).then(
      () => true,
      () => true,
    ),
    pause(LONGEST_TIMEOUT, false),
  ])
  if (!isClosed) throw new Error("the adapter did not answer 'close' within 4 s")
}

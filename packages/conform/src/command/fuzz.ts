// `conform HOST:PORT --fuzz N`: plays random programs on a server and on another one, and compares every frame.
import { systemRuntime } from '@zk/client'
import { CreateMode, type ServerAddress } from '@zk/wire'
import { chapters, idOf } from '../clauses/index.ts'
import { fuzz, type FuzzResult, programs } from '../fuzz/index.ts'
import { judge } from '../judge/index.ts'
import { open, playOn, type Target } from '../play/index.ts'
import { isBefore } from '../releases/index.ts'
import { fuzzReportOf, knownKinds } from '../report/index.ts'
import { ServerTarget } from '../targets/server-target.ts'
import { VirtualTarget } from '../targets/virtual-target.ts'
import { EXIT } from './exit.ts'
import { type FuzzChoice, isKnownLine, type Options, parseServers } from './options.ts'
import { Progress } from './progress.ts'
import { areReached, exitCodeOf, lastingProblem, oracleOf, readBaseline, versionOf, writeReports } from './server.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

/** Programs of this length take about as long as a scenario. */
const MOST_STEPS = 100
const SEEDS = 1_000_000_000

/** Returns the exit code. */
export async function fuzzServer(
  connectString: string,
  choice: FuzzChoice,
  options: Options,
  terminal: Terminal,
): Promise<number> {
  const { superUser, isHostile, timeout } = options
  const given = parseServers(connectString)
  const other = choice.oracle === undefined ? undefined : parseServers(choice.oracle)
  if (other === undefined && superUser?.startsWith('super:') === false) {
    throw new UsageError('the superuser of our own servers is called super: name other servers with --oracle')
  }
  const baseline = await readBaseline(options)
  if (!(await areReached([...given.servers, ...(other?.servers ?? [])], terminal))) return EXIT.unreachable
  const target = new ServerTarget({ ...given, superUser })
  const members = given.servers.length === 1 ? 1 : 3
  const { signal, release: stopListening } = terminal.interrupted()
  const progress = new Progress(terminal)
  const seed = choice.seed ?? Math.floor(systemRuntime.random() * SEEDS)
  let problem: string | undefined
  let as: string
  let result: FuzzResult
  try {
    as =
      choice.as ??
      (await releaseFor([...given.servers, ...(other?.servers ?? [])])) ??
      (await resembled(target, members, signal))
    const hasTTL = await makesNodesWithTTL(target)
    result = await fuzz({
      target,
      oracle: other
        ? new ServerTarget({ ...other, superUser })
        : new VirtualTarget({ release: oracleOf(as), members, superUser }),
      programs: programs({ release: as, mostSteps: MOST_STEPS, superUser, isHostile, hasTTL }),
      count: choice.count,
      only: choice.only,
      seed,
      known: baseline && knownKinds(baseline),
      timeout,
      signal,
      isAlive: async () => (problem = await lastingProblem(given.servers)) === undefined,
      onPlayed: (sofar) => progress.programs(sofar),
    })
  } finally {
    progress.end()
    stopListening()
  }
  const report = fuzzReportOf({
    result,
    seed,
    subject: connectString,
    as: choice.oracle ?? as,
    at: terminal.now(),
    command: commandOf(connectString, as, choice, options),
    secret: superUser,
  })
  await writeReports(report, baseline, options, terminal)
  if (report.programs?.stopped !== undefined) {
    terminal.error(`conform: the server does not answer any more after a program: ${problem}`)
    terminal.error(`Nodes named conform-… may be left on it. The program alone: ${report.programs.stopped}`)
    return EXIT.stopped
  }
  if (signal.aborted) {
    terminal.error('conform: interrupted; what was created on the server is deleted')
    return EXIT.interrupted
  }
  return exitCodeOf(report, baseline, terminal)
}

/** Everything on which a program depends. The password is not shown. */
function commandOf(connectString: string, as: string, { oracle }: FuzzChoice, options: Options): string {
  const parts = ['conform', connectString, '--as', as]
  if (oracle !== undefined) parts.push('--oracle', oracle)
  if (options.superUser !== undefined) parts.push('--super', 'USER:PASS')
  if (options.isHostile) parts.push('--hostile')
  return parts.join(' ')
}

/** The oldest release that the servers say to be, because all of them must know the operations. */
async function releaseFor(servers: readonly ServerAddress[]): Promise<string | undefined> {
  const said = await Promise.all(servers.map((server) => versionOf(server)))
  const known = said.filter((release) => release !== undefined && isKnownLine(release))
  return known.toSorted((one, other) => Number(isBefore(other!, one!)) - Number(isBefore(one!, other!)))[0]
}

/** The release that a server resembles most in the clauses in which releases differ. */
async function resembled(target: Target, members: number, signal: AbortSignal): Promise<string> {
  const ids = chapters.flatMap((chapter) =>
    chapter.clauses
      .filter(({ check }) => 'play' in check && check.differs !== undefined && check.waits !== true)
      .map((clause) => idOf(chapter, clause)),
  )
  const { as } = await judge({
    target,
    chapters,
    scenarios: [],
    profiles: new Set(),
    ids: new Set(ids),
    given: new Set(),
    oracle: (release) => new VirtualTarget({ release: oracleOf(release), members }),
    signal,
    isAlive: async () => true,
  })
  return as
}

/** Whether the servers have extendedTypesEnabled. */
async function makesNodesWithTTL(target: Target): Promise<boolean> {
  const request = { path: '/a', data: null, acl: open, flags: CreateMode.PERSISTENT_WITH_TTL, ttl: 3_600_000n }
  let err: number | undefined
  await target.use((stage) =>
    playOn(stage, async (scenario) => {
      const session = await scenario.open()
      err = (await session.call('createTTL', request))?.err
    }),
  )
  return err === 0
}

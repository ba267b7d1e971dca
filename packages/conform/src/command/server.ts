// `conform HOST:PORT` and `conform run`: judges a server, writes the reports, and decides the exit code.
import { readFile, writeFile } from 'node:fs/promises'
import { systemRuntime } from '@zk/client'
import { chapters, idOf, type Need } from '../clauses/index.ts'
import { judge, type Judgement, ServerStopped } from '../judge/index.ts'
import type { ServerAddress } from '@zk/wire'
import { ask } from '../play/index.ts'
import { DEBIAN, parseVersion, RELEASES, releaseNamed } from '../releases/index.ts'
import {
  type Baseline,
  baselineOf,
  failedIn,
  htmlReport,
  jsonReport,
  junitReport,
  markdownReport,
  parseBaseline,
  type Report,
  reportOf,
  textReport,
  unexpectedIn,
} from '../report/index.ts'
import { scenarioGroups } from '../scenarios/index.ts'
import { probe } from '../targets/probe.ts'
import { ServerTarget } from '../targets/server-target.ts'
import { VirtualTarget } from '../targets/virtual-target.ts'
import { controlOf } from './control.ts'
import { EXIT } from './exit.ts'
import { type Options, parseServers } from './options.ts'
import { Progress } from './progress.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

export const allIds: ReadonlySet<string> = new Set(
  chapters.flatMap((chapter) => chapter.clauses.map((clause) => idOf(chapter, clause))),
)

/** Returns the exit code. */
export async function judgeServer(
  connectString: string,
  ids: ReadonlySet<string> | undefined,
  options: Options,
  terminal: Terminal,
): Promise<number> {
  const { servers, base } = parseServers(connectString)
  const baseline = await readBaseline(options)
  if (!(await areReached(servers, terminal))) return EXIT.unreachable
  const target = new ServerTarget({
    servers,
    base,
    superUser: options.superUser,
    saslUser: options.saslUser,
    control: controlOf(options.commands),
  })
  const progress = new Progress(terminal)
  const { signal, release: stopListening } = terminal.interrupted()
  const isAlive = async (): Promise<boolean> => {
    problem = await lastingProblem(servers)
    return problem === undefined
  }
  let problem: string | undefined
  let judgement: Judgement
  let stopped: string | undefined
  try {
    judgement = await judge({
      target,
      chapters,
      scenarios: scenarioGroups,
      profiles: options.profiles,
      ids,
      given: givenBy(options, servers.length),
      as: options.as,
      likely: await likelyRelease(servers[0]!),
      oracle: (release) =>
        new VirtualTarget({
          release: oracleOf(release),
          members: servers.length === 1 ? 1 : 3,
          // Ours is called super.
          superUser: options.superUser?.startsWith('super:') === true ? options.superUser : undefined,
        }),
      timeout: options.timeout,
      signal,
      isAlive,
      onClause: (judged) => progress.clause(judged),
      onScenario: (judged) => progress.scenario(judged),
    })
  } catch (error) {
    if (!(error instanceof ServerStopped)) throw error
    judgement = error.judgement
    stopped = problem === undefined ? error.message : `${error.message}: ${problem}`
  } finally {
    progress.end()
    stopListening()
  }
  const report = reportOf(judgement, connectString, terminal.now())
  await writeReports(report, baseline, options, terminal)
  if (stopped !== undefined) {
    terminal.error(`conform: ${stopped}\nNodes named conform-… may be left on it.`)
    return EXIT.stopped
  }
  if (signal.aborted) {
    terminal.error('conform: interrupted; what was created on the server is deleted')
    return EXIT.interrupted
  }
  return exitCodeOf(report, baseline, terminal)
}

/** Whether a ZooKeeper server answers at each address. If not, that is printed. */
export async function areReached(servers: readonly ServerAddress[], terminal: Terminal): Promise<boolean> {
  for (const server of servers) {
    const found = await probe(server)
    if ('problem' in found) {
      terminal.error(`conform: ${found.problem}`)
      return false
    }
  }
  return true
}

export function exitCodeOf(report: Report, baseline: Baseline | undefined, terminal: Terminal): number {
  if (baseline === undefined) return failedIn(report).length > 0 ? EXIT.differs : EXIT.expected
  const { differs, keeps } = unexpectedIn(report, baseline)
  for (const key of differs) terminal.error(`conform: ${key} differs, and is not in the baseline`)
  for (const key of keeps) terminal.error(`conform: ${key} does not differ any more: remove it from the baseline`)
  return differs.length + keeps.length > 0 ? EXIT.differs : EXIT.expected
}

/** `again` is the command that plays a clause alone. */
export async function writeReports(
  report: Report,
  baseline: Baseline | undefined,
  { files, hasColors }: Options,
  terminal: Terminal,
  again?: string,
): Promise<void> {
  const texts = {
    json: () => jsonReport(report),
    junit: () => junitReport(report),
    markdown: () => markdownReport(report),
    html: () => htmlReport([report]),
    'write-baseline': () => baselineOf(report, baseline),
  }
  const wanted = Object.entries(texts).map(([name, text]) => [files[name as keyof typeof texts], text] as const)
  const printed = wanted.filter(([file]) => file === '-')
  for (const [, text] of printed) terminal.print(text())
  if (printed.length === 0) terminal.print(textReport(report, { hasColors: hasColors ?? terminal.hasColors, again }))
  // After the text: a file that cannot be written must not take it away.
  for (const [file, text] of wanted) if (file !== undefined && file !== '-') await write(file, text())
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

export async function readBaseline(
  { files }: Options,
  ids: ReadonlySet<string> = allIds,
): Promise<Baseline | undefined> {
  if (files.baseline === undefined) return undefined
  try {
    return parseBaseline(await readFile(files.baseline, 'utf8'), ids)
  } catch (error) {
    throw new UsageError(`the baseline ${files.baseline}: ${(error as Error).message}`)
  }
}

function givenBy(
  { isHostile, mayReconfigure, hasReadOnlyMode, commands, superUser, saslUser }: Options,
  servers: number,
): ReadonlySet<Need> {
  const given = new Set<Need>()
  if (servers >= 3) given.add('ensemble')
  if (commands.kill !== undefined && commands.pause !== undefined) given.add('control')
  if (superUser !== undefined) given.add('superuser')
  if (saslUser !== undefined) given.add('sasl')
  if (isHostile) given.add('hostile')
  if (mayReconfigure) given.add('reconfig')
  if (hasReadOnlyMode) given.add('read-only')
  return given
}

/** How often, and how long, a server that does not answer is asked again, in ms: it may be electing a leader. */
const [ASK_AGAIN, GIVE_UP] = [500, 10_000]

/** Why one of the servers does not serve, if that lasts. */
export async function lastingProblem(servers: readonly ServerAddress[]): Promise<string | undefined> {
  for (const start = systemRuntime.now(); ;) {
    const found = await Promise.all(servers.map((server) => probe(server)))
    const problem = found.find((each) => 'problem' in each)?.problem
    if (problem === undefined || systemRuntime.now() - start >= GIVE_UP) return problem
    await new Promise<void>((resolve) => systemRuntime.setTimer(ASK_AGAIN, resolve))
  }
}

/** The 3.8.0 with which servers are compared is Debian's, which has fixes of later releases. */
export function oracleOf(release: string): string {
  return DEBIAN.startsWith(`${release}-`) ? DEBIAN : release
}

/** The release that the server says to be, if one like it is known. */
async function likelyRelease(server: ServerAddress): Promise<string | undefined> {
  const version = await versionOf(server)
  if (version === undefined) return undefined
  if (RELEASES.includes(version)) return version
  return releaseNamed(version.split('.', 2).join('.'))
}

/** What the server says to be, such as `3.9.5`. */
export async function versionOf({ host, port }: ServerAddress): Promise<string | undefined> {
  return parseVersion(await ask(port, 'srvr', { host, runtime: systemRuntime, timeout: 2_000 }))
}

// `conform HOST:PORT` and `conform run`: judges a server, writes the reports, and decides the exit code.
import { readFile, writeFile } from 'node:fs/promises'
import { systemRuntime } from '@zk/client'
import { chapters, idOf, type Need } from '../clauses/index.ts'
import { isFailure, judge, type Judgement, ServerStopped } from '../judge/index.ts'
import { ask } from '../play/index.ts'
import { parseVersion, RELEASES, releaseNamed } from '../releases/index.ts'
import {
  type Baseline,
  baselineOf,
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
  for (const server of servers) {
    const found = await probe(server)
    if ('problem' in found) {
      terminal.error(`conform: ${found.problem}`)
      return EXIT.unreachable
    }
  }
  const target = new ServerTarget({
    servers,
    base,
    superUser: options.superUser,
    saslUser: options.saslUser,
    control: controlOf(options.commands),
  })
  const progress = new Progress(terminal)
  const { signal, release: stopListening } = terminal.interrupted()
  const isAlive = async (): Promise<boolean> => 'timeOut' in (await probe(servers[0]!))
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
      oracle: (release) => new VirtualTarget({ release, members: servers.length === 1 ? 1 : 3 }),
      timeout: options.timeout,
      signal,
      isAlive,
      onClause: (judged) => progress.clause(judged),
      onScenario: (judged) => progress.scenario(judged),
    })
  } catch (error) {
    if (!(error instanceof ServerStopped)) throw error
    judgement = error.judgement
    stopped = error.message
  } finally {
    progress.end()
    stopListening()
  }
  const report = reportOf(judgement, connectString, terminal.now())
  await writeReports(report, baseline, options, terminal)
  if (stopped !== undefined) {
    terminal.error(`conform: ${stopped}`)
    return EXIT.stopped
  }
  if (signal.aborted) {
    terminal.error('conform: interrupted; what was created on the server is deleted')
    return EXIT.interrupted
  }
  return exitCodeOf(report, judgement, baseline, terminal)
}

export function exitCodeOf(
  report: Report,
  judgement: Judgement,
  baseline: Baseline | undefined,
  terminal: Terminal,
): number {
  if (baseline === undefined) {
    const hasFailed = judgement.clauses.some(({ verdict }) => isFailure(verdict) && verdict.outcome !== 'lenient')
    return hasFailed ? EXIT.differs : EXIT.expected
  }
  const { differs, keeps } = unexpectedIn(report, baseline)
  for (const id of differs) terminal.error(`conform: ${id} differs, and is not in the baseline`)
  for (const id of keeps) terminal.error(`conform: ${id} does not differ any more: remove it from the baseline`)
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
  let isPrinted = false
  for (const [name, text] of Object.entries(texts)) {
    const file = files[name as keyof typeof texts]
    if (file === undefined) continue
    if (file === '-') {
      isPrinted = true
      terminal.print(text())
    } else await write(file, text())
  }
  if (!isPrinted) terminal.print(textReport(report, { hasColors: hasColors ?? terminal.hasColors, again }))
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

/** The release that the server says to be, if one like it is known. */
async function likelyRelease({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<string | undefined> {
  const version = parseVersion(await ask(port, 'srvr', { host, runtime: systemRuntime, timeout: 2_000 }))
  if (version === undefined) return undefined
  if (RELEASES.includes(version)) return version
  return releaseNamed(version.split('.', 2).join('.'))
}

// Judges a server: plays all clauses, finds the release that it resembles most, and says where it differs from that release.
import { type Chapter, type Check, type Clause, expectedOf, idOf, type Need, type Profile } from '../clauses/index.ts'
import { NO_COMMAND, playOn, type Target } from '../play/index.ts'
import { concerns, isBefore, RELEASES } from '../releases/index.ts'
import type { ScenarioGroup, VersionedScenario } from '../scenarios/index.ts'
import { compareTranscripts, type LineDifference } from './compare.ts'
import { gradeOf } from './grade.ts'
import { type Observation, observe } from './observe.ts'
import type { Evidence, Finding, JudgedClause, JudgedScenario, Judgement, Verdict } from './verdict.ts'

/** The servers, what is played on them, and with what they are compared. */
export interface JudgeOptions {
  /** The servers to judge. */
  target: Target
  /** The clauses to play: those of this package, or some of your own. */
  chapters: readonly Chapter[]
  /** The scenarios to play after the clauses; empty for none. */
  scenarios: readonly ScenarioGroup[]
  /** Clauses of other profiles are left out. Scenarios are played only with `full`. */
  profiles: ReadonlySet<Profile>
  /** Only these clauses, by id. @default all */
  ids?: ReadonlySet<string> | undefined
  /** What clauses may need. */
  given: ReadonlySet<Need>
  /** The release with which the server is compared. @default the one that it resembles most */
  as?: string | undefined
  /** Chosen if the server resembles several releases equally: the one that it says to be. @default the newest */
  likely?: string | undefined
  /** Servers of a release, to which the transcripts are compared. */
  oracle: (release: string) => Target
  /** The time limit of a check or a scenario, in ms. Checks that mostly wait may take longer. @default 30_000 */
  timeout?: number | undefined
  /** Ends the judging early. What is under way is cleaned up; the judgement has what was found until then. */
  signal?: AbortSignal | undefined
  /** Whether a server still answers. */
  isAlive: () => Promise<boolean>
  /** Called after each clause. The verdict is compared with the likely release, and may change in the end. */
  onClause?: ((judged: JudgedClause) => void) | undefined
  /** Called after each scenario. */
  onScenario?: ((judged: JudgedScenario) => void) | undefined
}

/** The server did not come back after a check. `judgement` is what was found until then. */
export class ServerStopped extends Error {
  /** Without scenarios: they are not played on a server that has stopped. */
  readonly judgement: Judgement

  constructor(id: string, judgement: Judgement) {
    super(`the server does not answer any more after ${id}`)
    this.name = 'ServerStopped'
    this.judgement = judgement
  }
}

interface Played {
  readonly id: string
  readonly clause: Clause
  readonly observation: Observation | undefined
  readonly isStopped: boolean
}

/** The default time limit, in ms. */
const TIMEOUT = 30_000
/** How many checks that mostly wait are played at the same time. */
const WIDTH = 10
/**
 * The time limit of a check that waits for what servers do at a time of their own, in ms: by default they look for empty
 * containers each minute.
 */
const WAITING_TIMEOUT = 100_000

/** Plays all clauses and then the scenarios. Rejects with `ServerStopped` if the servers do not come back after a check. */
export async function judge(options: JudgeOptions): Promise<Judgement> {
  const { likely = RELEASES.at(-1)!, as, signal } = options
  const order = selected(options)
  const all: Played[] = []
  let stoppedBy: string | undefined
  const play = async ([id, clause]: readonly [string, Clause]): Promise<void> => {
    const each = await playClause(id, clause, options)
    // An interrupted check has no verdict, and no report.
    if (signal?.aborted && each.observation?.unfinished !== undefined) return
    const isFirst = each.isStopped && stoppedBy === undefined
    if (isFirst) stoppedBy = id
    const played = { ...each, isStopped: isFirst }
    all.push(played)
    options.onClause?.({ id, clause, verdict: verdictOf(played, as ?? likely, options) })
  }
  const [waiting, quick] = parted(order, ([, { check }]) => isCheck(check) && check.waits === true)
  for (const [clauses, width] of [
    [quick, 1],
    [waiting, WIDTH],
  ] as const) {
    await inParallel(clauses, width, () => stoppedBy === undefined && signal?.aborted !== true, play)
  }
  const position = new Map(order.map(([id], index) => [id, index]))
  const played = all.toSorted((one, other) => position.get(one.id)! - position.get(other.id)!)
  const release = as ?? mostLike(played, likely)
  const clauses = withConsequences(
    played.map((each) => ({ id: each.id, clause: each.clause, verdict: verdictOf(each, release, options) })),
  )
  const findings = new Findings()
  for (const each of clauses) {
    if (isFailure(each.verdict)) await addClause(findings, each, release, options)
  }
  const scenarios: JudgedScenario[] = []
  const judgement = (): Judgement => ({ as: release, clauses, scenarios, findings: findings.all })
  if (stoppedBy !== undefined) throw new ServerStopped(stoppedBy, judgement())
  if (!options.profiles.has('full') || options.ids !== undefined) return judgement()
  for (const { subject, scenarios: group } of options.scenarios) {
    for (const [title, scenario] of group) {
      if (signal?.aborted) return judgement()
      const name = `${subject}: ${title}`
      const judged = await playScenario(name, scenario, release, options, findings)
      scenarios.push(judged)
      options.onScenario?.(judged)
      if (judged.outcome === 'unfinished' && signal?.aborted !== true && !(await options.isAlive())) {
        throw new ServerStopped(name, judgement())
      }
    }
  }
  return judgement()
}

function parted<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** Begins the items in their order, at most `width` at the same time, as long as `goesOn`. */
async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  goesOn: () => boolean,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (!goesOn()) return
      await act(item)
    }
  }
  await Promise.all(Array.from({ length: width }, work))
}

/** Whether the server does something that it should not do. */
export function isFailure(verdict: Verdict): verdict is Extract<Verdict, { readonly evidence: Evidence }> {
  return ['lenient', 'differs', 'stopped', 'unsupported'].includes(verdict.outcome)
}

function selected({ chapters, profiles, ids }: JudgeOptions): readonly (readonly [string, Clause])[] {
  return chapters.flatMap((chapter) =>
    chapter.clauses
      .map((clause) => [idOf(chapter, clause), clause] as const)
      .filter(([id, { profile = 'core' }]) => ids?.has(id) ?? profiles.has(profile)),
  )
}

async function playClause(id: string, clause: Clause, options: JudgeOptions): Promise<Played> {
  const { check } = clause
  if (!isCheck(check) || missing(clause, options).length > 0) {
    return { id, clause, observation: undefined, isStopped: false }
  }
  const { target, timeout = TIMEOUT, signal } = options
  const limit = check.waits === true ? Math.max(timeout, WAITING_TIMEOUT) : timeout
  const observation = await target.use((stage) => observe(stage, check, { timeout: limit, signal }))
  const isSuspect = (observation.unfinished ?? observation.leftover) !== undefined && signal?.aborted !== true
  return { id, clause, observation, isStopped: isSuspect && !(await options.isAlive()) }
}

function verdictOf({ clause, observation, isStopped }: Played, release: string, options: JudgeOptions): Verdict {
  const { check, level } = clause
  if (!isCheck(check)) return { outcome: 'unchecked', why: check.unchecked }
  if (observation === undefined) return { outcome: 'untried', needs: missing(clause, options) }
  if (clause.since !== undefined && isBefore(release, clause.since)) return { outcome: 'later', since: clause.since }
  const { seen, transcript, frames, leftover, unfinished = leftover } = observation
  const evidence = { seen, expected: expectedOf(check, release), transcript, frames, unfinished }
  if (isStopped) return { outcome: 'stopped', evidence }
  const grade = gradeOf(check, level, observation, release)
  // Reports leave out the evidence of what is right, and so would not name the node that is left.
  const isRight = grade === 'equal' || grade === 'allowed'
  return { outcome: isRight && leftover !== undefined ? 'unfinished' : grade, evidence }
}

/** The release with the most equal clauses. */
function mostLike(played: readonly Played[], likely: string): string {
  const equal = (release: string): number =>
    played.filter(({ clause: { check, level, since }, observation }) => {
      if (observation === undefined || !isCheck(check)) return false
      if (since !== undefined && isBefore(release, since)) return observation.isRefused
      return gradeOf(check, level, observation, release) === 'equal'
    }).length
  const counts = new Map(RELEASES.map((release) => [release, equal(release)]))
  const most = Math.max(...counts.values())
  if (counts.get(likely) === most) return likely
  return RELEASES.findLast((release) => counts.get(release) === most)!
}

/** A clause is not accused if one on which it depends has failed. */
function withConsequences(judged: readonly JudgedClause[]): readonly JudgedClause[] {
  const failed = new Set(judged.filter(({ verdict }) => isFailure(verdict)).map(({ id }) => id))
  return judged.map((each) => {
    const { clause, verdict } = each
    const from = (clause.follows ?? []).filter((id) => failed.has(id))
    if (from.length === 0 || !isFailure(verdict) || verdict.outcome === 'stopped') return each
    return { ...each, verdict: { outcome: 'follows', from, evidence: verdict.evidence } }
  })
}

function isCheck(check: Clause['check']): check is Check {
  return 'play' in check
}

function missing({ needs = [] }: Clause, { given }: JudgeOptions): readonly Need[] {
  return needs.filter((need) => !given.has(need))
}

// --- findings -------------------------------------------------------------------------------------------------------

/** Plays the check at the oracle, too: what differs there is what this clause is about. */
async function addClause(
  findings: Findings,
  { id, clause: { check }, verdict }: JudgedClause,
  release: string,
  { oracle, timeout }: JudgeOptions,
): Promise<void> {
  if (!isCheck(check) || !('evidence' in verdict)) return
  const expected = await oracle(release).use((stage) => observe(stage, check, { timeout }))
  const found = compareTranscripts(expected.transcript, verdict.evidence.transcript)
  const { evidence } = verdict
  // What only the check itself can see, such as a moment or the order of two connections.
  const own = {
    kind: `${id}: ${evidence.expected.join(' | ')} → ${evidence.seen.join(' | ')}`,
    expected: evidence.expected.join('\n'),
    actual: evidence.seen.join('\n'),
  }
  const isAllowed = verdict.outcome === 'allowed'
  for (const each of found.length === 0 ? [own] : found) findings.add(each, { clause: id, isAllowed })
}

async function playScenario(
  name: string,
  scenario: VersionedScenario,
  release: string,
  { target, oracle, timeout, signal, given }: JudgeOptions,
  findings: Findings,
): Promise<JudgedScenario> {
  if (scenario.since !== undefined && isBefore(release, scenario.since)) return { name, outcome: 'later', kinds: [] }
  if (scenario.needs?.some((need) => !given.has(need)) === true) return { name, outcome: 'untried', kinds: [] }
  const mayHurt = scenario.halts !== undefined && !given.has('hostile')
  if (mayHurt || (scenario.halts !== undefined && concerns(scenario.halts, release))) {
    return { name, outcome: 'untried', kinds: [] }
  }
  const actual = await target.use((stage) => playOn(stage, scenario.play, { timeout, signal }))
  if (actual.failure?.includes(NO_COMMAND)) return { name, outcome: 'untried', kinds: [] }
  if (actual.failure !== undefined || signal?.aborted) return { name, outcome: 'unfinished', kinds: [] }
  const expected = await oracle(release).use((stage) => playOn(stage, scenario.play, { timeout }))
  const found = compareTranscripts(expected.transcript, actual.transcript)
  for (const each of found) findings.add(each, { scenario: name })
  const kinds = [...new Set(found.map(({ kind }) => kind))]
  if (kinds.length > 0) return { name, outcome: 'differs', kinds }
  return { name, outcome: actual.leftover === undefined ? 'equal' : 'unfinished', kinds }
}

/** Each kind once. */
class Findings {
  readonly #found = new Map<string, Finding>()

  add(
    { kind, expected, actual }: Omit<LineDifference, 'phase'>,
    {
      isAllowed = false,
      ...where
    }: { readonly clause?: string; readonly scenario?: string; readonly isAllowed?: boolean },
  ): void {
    const known = this.#found.get(kind) ?? { kind, isAllowed, clauses: [], scenarios: [], expected, actual }
    this.#found.set(kind, {
      ...known,
      isAllowed: known.isAllowed || isAllowed,
      clauses: withItem(known.clauses, where.clause),
      scenarios: withItem(known.scenarios, where.scenario),
    })
  }

  get all(): readonly Finding[] {
    return [...this.#found.values()]
  }
}

function withItem(items: readonly string[], item: string | undefined): readonly string[] {
  return item === undefined || items.includes(item) ? items : [...items, item]
}

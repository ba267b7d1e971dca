// Plays random programs on two servers. A program with a difference is shortened, and each kind of difference is told once.
import * as fc from 'fast-check'
import { systemRuntime } from '@zk/client'
import { compareTranscripts, type LineDifference } from '../judge/index.ts'
import { type Frame, type Played, playOn, type Target } from '../play/index.ts'
import { playProgram } from './play.ts'
import { countOf, type Program } from './program.ts'
import { select, type Selection, shorten } from './shorten.ts'

/** Which programs are played, and where. */
export interface FuzzOptions {
  /** The servers to judge. */
  target: Target
  /** The servers with which they are compared. */
  oracle: Target
  /** What is drawn. */
  programs: fc.Arbitrary<Program>
  /** How many programs are played. Each has a seed of its own: the first one `seed`, the next one `seed + 1`. */
  count: number
  /** An integer. */
  seed: number
  /** Plays only these atoms of each program. @default all */
  only?: ReadonlySet<number> | undefined
  /** Kinds that are known: their programs are not shortened. @default none */
  known?: ReadonlySet<string> | undefined
  /** Whether the servers have no other clients. Then all zxids must agree. @default false */
  isAlone?: boolean | undefined
  /** The time limit of a program, in ms. @default 30_000 */
  timeout?: number | undefined
  /** How long one program may be shortened, in ms. @default 60_000 */
  timeToShorten?: number | undefined
  /** Ends it early. What is under way is cleaned up; the result has what was found until then. */
  signal?: AbortSignal | undefined
  /** Whether the target still answers. Asked after a program without an end. */
  isAlive: () => Promise<boolean>
  /** Called after each play, also while a program is shortened. */
  onPlayed?: ((result: FuzzResult) => void) | undefined
}

/** What came out for all programs. */
export interface FuzzResult {
  /** How many programs had a verdict. */
  readonly tried: number
  /** How many of these had equal transcripts. */
  readonly equal: number
  /** The requests of all programs that had a verdict. */
  readonly requests: number
  /** In the order in which they were found; each kind once. */
  readonly differences: readonly Difference[]
  /** The programs that came to no end, and those whose difference did not show again. */
  readonly withoutVerdict: readonly NoVerdict[]
  /** After this program the target did not answer any more. */
  readonly stoppedBy: { readonly seed: number; readonly atoms: readonly number[] } | undefined
}

/** A kind of difference, and the shortest program found that shows it. */
export interface Difference extends LineDifference {
  /** The program is drawn from this seed, */
  readonly seed: number
  /** and has only these of its atoms. */
  readonly atoms: readonly number[]
  /** Until the step with the difference. Its last step is the one of `phase`. */
  readonly program: Program
  /** The frames of the line: the request and the reply, or the event. */
  readonly expectedFrames: readonly Frame[]
  readonly actualFrames: readonly Frame[]
  /** Other kinds, each of which only shows after this one, even in the shortest program. */
  readonly followedBy: readonly string[]
}

/** A program that says nothing about the server. */
export interface NoVerdict {
  /** The program is drawn from this seed. */
  readonly seed: number
  /** As the rest of a sentence. */
  readonly why: string
}

/** After so many kinds it ends: most of them will have few causes. */
const MOST_KINDS = 20
/** A program that takes longer has no verdict if it differs: a session without a connection may have expired. In ms. */
const SESSIONS_LIVE = 8_000

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { count, seed, signal } = options
  const run = new Run(options)
  for (let index = 0; index < count && !run.isOver && signal?.aborted !== true; index++) await run.play(seed + index)
  return run.result
}

/** Both plays of a program. */
interface Pair {
  readonly selection: Selection
  readonly expected: Played
  readonly actual: Played
  readonly differences: readonly LineDifference[]
  /** Why there is no verdict. */
  readonly problem: string | undefined
}

class Run {
  readonly #options: FuzzOptions
  readonly #told = new Map<string, Difference>()
  readonly #followers = new Set<string>()
  readonly #withoutVerdict: NoVerdict[] = []
  #tried = 0
  #equal = 0
  #requests = 0
  #stoppedBy: FuzzResult['stoppedBy']

  constructor(options: FuzzOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#stoppedBy !== undefined || this.#told.size + this.#followers.size >= MOST_KINDS
  }

  get result(): FuzzResult {
    return {
      tried: this.#tried,
      equal: this.#equal,
      requests: this.#requests,
      differences: [...this.#told.values()],
      withoutVerdict: this.#withoutVerdict,
      stoppedBy: this.#stoppedBy,
    }
  }

  /** Plays the program of a seed. If it shows a new kind of difference, it is shortened. */
  async play(seed: number): Promise<void> {
    const { programs, only, signal, known } = this.#options
    // With this generator, seeds that are close to each other give programs that have nothing in common.
    const [drawn = []] = fc.sample(programs, { seed, randomType: 'mersenne', numRuns: 1 })
    const selection = select(drawn, only && ((atom) => only.has(atom)))
    const pair = await this.#pair(selection)
    if (signal?.aborted) return
    if (pair.problem !== undefined) return this.#noVerdict(seed, selection, pair.problem)
    this.#tried++
    this.#requests += countOf(selection.program)
    if (pair.differences.length === 0) {
      this.#equal++
      return
    }
    const difference = pair.differences.find(({ kind }) => !this.#told.has(kind) && !this.#followers.has(kind))
    if (difference === undefined) return
    if (known?.has(difference.kind) === true) this.#tell(pair, difference, seed)
    else await this.#shorten(pair, difference, seed, drawn)
  }

  async #shorten(first: Pair, { kind }: LineDifference, seed: number, drawn: Program): Promise<void> {
    const { signal, timeToShorten = 60_000, isAlive } = this.#options
    const end = systemRuntime.now() + timeToShorten
    const isOver = (): boolean => this.#stoppedBy !== undefined || signal?.aborted === true || systemRuntime.now() > end
    let shortest: Pair | undefined
    const tried = async (atoms: readonly number[]): Promise<readonly number[] | undefined> => {
      const kept = new Set(atoms)
      const pair = await this.#pair(select(drawn, (atom) => kept.has(atom)))
      if (pair.problem !== undefined && signal?.aborted !== true && !(await isAlive())) {
        this.#stoppedBy = { seed, atoms }
      }
      if (pair.problem !== undefined || !pair.differences.some((each) => each.kind === kind)) return undefined
      shortest = pair
      return upTo(pair, kind)
    }
    // What shows only once may be up to chance.
    const shown = await tried(upTo(first, kind))
    if (shown !== undefined) await shorten(shown, tried, isOver)
    if (signal?.aborted === true) return
    if (shortest === undefined) this.#withoutVerdict.push({ seed, why: `a difference did not show again: ${kind}` })
    else
      this.#tell(
        shortest,
        shortest.differences.find((each) => each.kind === kind)!,
        seed,
      )
  }

  #tell(pair: Pair, difference: LineDifference, seed: number): void {
    const { kind, phase, expected, actual } = difference
    // In a phase, lines are in the order of their connections, not of time.
    const earlier = pair.differences.filter((each) => each.phase <= phase && each.kind !== kind)
    const cause = earlier.map((each) => this.#told.get(each.kind)).find((each) => each !== undefined)
    if (cause !== undefined) {
      this.#followers.add(kind)
      this.#told.set(cause.kind, { ...cause, followedBy: [...cause.followedBy, kind] })
      return
    }
    this.#told.set(kind, {
      ...difference,
      seed,
      atoms: upTo(pair, kind),
      program: pair.selection.program.slice(0, phase + 1),
      expectedFrames: expected === undefined ? [] : pair.expected.framesOf(phase, expected),
      actualFrames: actual === undefined ? [] : pair.actual.framesOf(phase, actual),
      followedBy: [],
    })
  }

  async #noVerdict(seed: number, { atoms }: Selection, why: string): Promise<void> {
    this.#withoutVerdict.push({ seed, why })
    if (!(await this.#options.isAlive())) this.#stoppedBy = { seed, atoms }
  }

  async #pair(selection: Selection): Promise<Pair> {
    const { target, oracle, isAlone } = this.#options
    const [expected, actual] =
      target === oracle
        ? [await this.#playOn(oracle, selection.program), await this.#playOn(target, selection.program)]
        : await Promise.all([this.#playOn(oracle, selection.program), this.#playOn(target, selection.program)])
    const differences = compareTranscripts(expected.transcript, actual.transcript, { isAlone })
    const isLate = differences.length > 0 && Math.max(expected.time, actual.time) > SESSIONS_LIVE
    const problem =
      actual.failure ??
      (expected.failure === undefined ? undefined : `the other server: ${expected.failure}`) ??
      (isLate ? 'it took so long that sessions may have expired' : undefined) ??
      (differences.length === 0 ? actual.leftover : undefined)
    this.#options.onPlayed?.(this.result)
    return { selection, expected, actual, differences, problem }
  }

  #playOn(target: Target, program: Program): Promise<Played & { readonly time: number }> {
    const { timeout, signal } = this.#options
    return target.use(async (stage) => {
      const begin = stage.runtime.now()
      const played = await playOn(stage, playProgram(program), { timeout, signal })
      return { ...played, time: stage.runtime.now() - begin }
    })
  }
}

/** The atoms until the end of the step with the difference. */
function upTo({ selection: { atoms, steps }, differences }: Pair, kind: string): readonly number[] {
  const last = differences.find((each) => each.kind === kind)?.phase ?? Infinity
  return atoms.filter((_, index) => steps[index]! <= last)
}

// The result of random programs as data, for all reports.
import { type Difference, formatAtoms, formatProgram, type FuzzResult } from '../fuzz/index.ts'
import { type Frame, toHex } from '../play/index.ts'
import { type Report, type ReportedFinding, SCHEMA } from './report.ts'

/** How many random programs were played. */
export interface ReportedPrograms {
  /** Of the first program. The next one has the next number. */
  readonly seed: number
  /** The programs with a verdict. */
  readonly tried: number
  /** How many of these had no difference. */
  readonly equal: number
  /** The requests of all programs with a verdict. */
  readonly requests: number
  /** Programs that came to no end, or whose difference did not show again. */
  readonly withoutVerdict: readonly { readonly seed: number; readonly why: string }[]
  /** The command that plays the program after which the server did not answer any more. */
  readonly stopped?: string | undefined
}

/** The shortest program that shows a difference. */
export interface ReportedProgram {
  /** One line each. */
  readonly steps: readonly string[]
  /** The request and the reply, or the event, that is expected. */
  readonly expectedFrames: readonly ReportedFrame[]
  /** As `expectedFrames`, of the server. */
  readonly actualFrames: readonly ReportedFrame[]
  /** Differences that only show after this one. */
  readonly followedBy: readonly string[]
  /** The command that plays this program alone. */
  readonly again: string
}

/** As the connection, a client, sees it. */
export interface ReportedFrame {
  readonly connection: string
  readonly direction: string
  readonly hex: string
}

export type ProgramFinding = ReportedFinding & { readonly program: ReportedProgram }

/** A run of random programs. */
export interface Fuzzed {
  readonly result: FuzzResult
  readonly seed: number
  /** What was judged, such as `127.0.0.1:2181`. */
  readonly subject: string
  /** The release, or the address, of the servers with which they were compared. */
  readonly as: string
  /** An ISO date. */
  readonly at: string
  /** The command that plays one program: its options are added. */
  readonly command: string
  /** What reports must not show. */
  readonly secret: string | undefined
}

export function fuzzReportOf({ result, seed, subject, as, at, command, secret }: Fuzzed): Report {
  const { tried, equal, requests, withoutVerdict, stoppedBy, differences } = result
  const none = { passed: 0, tried: 0, untried: 0 }
  const again = (of: { readonly seed: number; readonly atoms: readonly number[] }): string =>
    `${command} --fuzz 1 --seed ${of.seed} --only ${formatAtoms(of.atoms)}`
  return {
    schema: SCHEMA,
    subject,
    at,
    as,
    summary: { core: none, full: none, extended: none },
    scenarios: { equal: 0, tried: 0 },
    programs: {
      seed,
      tried,
      equal,
      requests,
      withoutVerdict,
      ...(stoppedBy !== undefined && { stopped: again(stoppedBy) }),
    },
    clauses: [],
    findings: differences.map((each) => reportedDifference(each, again(each), secret)),
  }
}

const HIDDEN = 'USER:PASS'

function reportedDifference(
  { kind, expected, actual, program, expectedFrames, actualFrames, followedBy }: Difference,
  again: string,
  secret: string | undefined,
): ReportedFinding {
  const hide = (text: string): string => (secret === undefined ? text : text.replaceAll(secret, HIDDEN))
  const hiddenHex = (hex: string): string =>
    secret === undefined ? hex : hex.replaceAll(toHex(new TextEncoder().encode(secret)), '…')
  const reported = ({ connection, direction, bytes }: Frame): ReportedFrame => {
    return { connection, direction, hex: hiddenHex(toHex(bytes)) }
  }
  return {
    kind,
    isAllowed: false,
    clauses: [],
    scenarios: [],
    expected: expected && hide(expected),
    actual: actual && hide(actual),
    program: {
      steps: hide(formatProgram(program))
        .split('\n')
        .map((line) => line.trim()),
      expectedFrames: expectedFrames.map(reported),
      actualFrames: actualFrames.map(reported),
      followedBy,
      again,
    },
  }
}

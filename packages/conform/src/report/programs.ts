// The result of random programs as data, for all reports.
import { type Difference, formatAtoms, formatProgram, type FuzzResult } from '../fuzz/index.ts'
import { type Frame, toHex } from '../play/index.ts'
import { type Report, type ReportedFinding, type ReportedFrame, SCHEMA } from './report.ts'

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

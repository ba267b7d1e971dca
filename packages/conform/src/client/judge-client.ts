// From logs to a judgement, of the same shape as that of a server.
import type { Chapter, Clause } from '../clauses/index.ts'
import type { JudgedClause, Judgement, Verdict } from '../judge/index.ts'
import type { ClientLog } from './client-log.ts'
import { duties } from './duties.ts'
import { type Duty, verdictOn } from './duty.ts'

export interface PlayedSituation {
  readonly name: string
  readonly log: ClientLog
}

/** The duties as a chapter, for `list` and `explain`. */
export const clientChapter: Chapter = {
  name: 'client',
  title: 'What clients do',
  introduction: 'All of this shows in the frames that a client sends. `conform client` judges it.',
  clauses: duties.map(clauseOf),
}

/** How many situations are told of each duty: the others say the same. */
const MOST_TOLD = 4

export function judgeClient(played: readonly PlayedSituation[]): Judgement {
  const clauses = duties.map((duty): JudgedClause => ({
    id: `client/${duty.number}`,
    clause: clauseOf(duty),
    verdict: verdictOf(duty, played),
  }))
  return { as: 'a client', clauses, scenarios: [], findings: [] }
}

function clauseOf({ number, level, text, source, shows }: Duty): Clause {
  const check = { unchecked: `It is judged from what a client sends, when ${shows}.` }
  return { number, text, source, check, ...(level !== undefined && { level }) }
}

function verdictOf(duty: Duty, played: readonly PlayedSituation[]): Verdict {
  const seen: string[] = []
  let isKept = false
  for (const { name, log } of played) {
    const verdict = verdictOn(duty, log)
    if (verdict.outcome === 'kept') isKept = true
    if (verdict.outcome === 'broken') seen.push(`${name}: ${verdict.why[0]}`)
  }
  const more = seen.splice(MOST_TOLD).length
  if (more > 0) seen.push(`and so in ${more} more`)
  if (seen.length === 0 && !isKept) return { outcome: 'unchecked', why: `not seen: ${duty.shows}` }
  const evidence = { seen, expected: ['nothing of this'], transcript: [], frames: [], unfinished: undefined }
  if (seen.length === 0) return { outcome: 'equal', evidence }
  return { outcome: (duty.level ?? 'MUST') === 'MUST' ? 'differs' : 'lenient', evidence }
}

// The history by attempts, each with everything that was recorded about it.
import type { Played } from '../history/played.ts'
import type { AttemptedTask, Happening, Recorded } from '../history/history.ts'

type RecordOf<Type extends Happening['type']> = Extract<Recorded, { type: Type }>

export interface Attempt {
  readonly id: number
  readonly client: number
  readonly task: AttemptedTask
  readonly at: number
  readonly queued: RecordOf<'queued'>[]
  readonly asked: RecordOf<'asked'>[]
  readonly guarded: RecordOf<'guarded'>[]
  granted?: RecordOf<'granted'>
  lost?: RecordOf<'lost'>
  refused?: RecordOf<'refused'>
  released?: RecordOf<'released'>
  done?: RecordOf<'done'>
  /** How often each event came that may come once. */
  readonly times: { granted: number; lost: number; refused: number; released: number; done: number }
}

export function attemptsOf({ history }: Pick<Played, 'history'>): Attempt[] {
  const attempts: Attempt[] = []
  for (const each of history) {
    if (each.type === 'attempted') {
      attempts[each.attempt] = {
        id: each.attempt,
        client: each.client,
        task: each.task,
        at: each.at,
        queued: [],
        asked: [],
        guarded: [],
        times: { granted: 0, lost: 0, refused: 0, released: 0, done: 0 },
      }
    } else if ('attempt' in each) note(attempts[each.attempt]!, each)
  }
  return attempts
}

function note(attempt: Attempt, record: Exclude<Extract<Recorded, { attempt: number }>, { type: 'attempted' }>): void {
  switch (record.type) {
    case 'queued':
      attempt.queued.push(record)
      return
    case 'asked':
      attempt.asked.push(record)
      return
    case 'guarded':
      attempt.guarded.push(record)
      return
    case 'fenced':
      return
    case 'granted':
    case 'lost':
    case 'refused':
    case 'released':
    case 'done':
      attempt.times[record.type]++
      Object.assign(attempt, { [record.type]: record })
  }
}

/** The nodes that an operator deleted, or whose session it ended. Their holders learn it late. */
function forcedPaths({ history, log }: Pick<Played, 'history' | 'log'>): Set<string> {
  const forced = history.filter((each) => each.type === 'forced')
  const ended = new Map<bigint, number>()
  for (const { session, at } of forced) if (session !== undefined && !ended.has(session)) ended.set(session, at)
  const withSession = [...log.lives.values()].filter(({ owner, end }) => {
    const at = ended.get(owner)
    return at !== undefined && (end === undefined || end.at >= Math.floor(at))
  })
  return new Set([...forced.flatMap(({ paths }) => paths), ...withSession.map(({ path }) => path)])
}

/**
 * The nodes that may count as held, or be granted, after they are gone: those that an operator deleted, those of holders
 * without a lease, and those of sessions whose timeout was shortened without the client's knowledge (A5).
 */
export function heldOnTrust(played: Pick<Played, 'history' | 'log' | 'shortened'>): Set<string> {
  const { log, shortened } = played
  const withoutLease = attemptsOf(played).flatMap(({ granted, task }) =>
    granted === undefined || (task.holdOptions?.heldWhile ?? 'confirmed') === 'confirmed'
      ? []
      : (granted.nodes ?? [granted.path]),
  )
  const unnoticed = [...log.lives.values()].filter(({ owner }) => shortened.has(owner)).map(({ path }) => path)
  return new Set([...forcedPaths(played), ...withoutLease, ...unnoticed])
}

/** The clients whose process was killed. */
export function killedClients({ history }: Pick<Played, 'history'>): Set<number> {
  return new Set(history.flatMap((each) => (each.type === 'killed' ? [each.client] : [])))
}

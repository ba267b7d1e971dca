// What a recipe of the chaos is: what each process does with it, and how the log of all processes is judged.
import type { ZooKeeper } from '@zk/recipes'
import type { Note, Unwritten } from '../history/index.ts'

/** What a process has of the run. */
export interface Stage {
  readonly zk: ZooKeeper
  /** The path of the recipe. All that it makes is there. */
  readonly path: string
  /** The name of the process: `<slot>.<generation>`. */
  readonly process: string
  /** Its place in the crowd. The process that replaces it after its death has the same, and the next generation. */
  readonly slot: number
  /** How many processes were at this place before it. */
  readonly generation: number
  /** The longest usual turn, in ms. */
  readonly turn: number
  /** Aborts at the order to stop. Only what would wait for others that have stopped ends by it. */
  readonly over: AbortSignal
}

/** One turn of the contender with this name. It ends without any further order, as long as the ensemble works in the end. */
export type TakeTurn = (contender: string) => Promise<void>

/** Writes to the log of the recipe. */
export type Log<N extends Note> = (note: Unwritten<N>) => void

export interface Recipe<N extends Note = Note> {
  /** The name of its log, and of its node. */
  readonly name: string
  /** The note after whose contender harm is done most often. */
  readonly weakAfter: N['what']
  /** The nodes that may be there at the end, behind its path: also the containers, which servers delete some time later. */
  readonly keeps: readonly string[]
  /** Called once, before the first process starts. */
  prepare?(zk: ZooKeeper, path: string): Promise<void>
  /** What goes on in one process, by name: each takes one turn after another, until the order to stop. */
  contenders(stage: Stage, log: Log<N>): Readonly<Record<string, TakeTurn>>
  /** What is seen when all processes have ended. */
  atEnd?(zk: ZooKeeper, path: string): Promise<Unwritten<N>>
  judge(notes: readonly N[]): Omit<Verdict, 'recipe'>
}

export interface Verdict {
  readonly recipe: string
  /** How many turns succeeded, and what they are called. There must be some. */
  readonly done: number
  readonly unit: string
  /** How often what else happened. */
  readonly counts: Readonly<Record<string, number>>
  /** The longest times, in ms. */
  readonly worst: Readonly<Record<string, number>>
  /** What broke a promise, in one line each. There must be none. */
  readonly violations: readonly string[]
}

/** How often each text occurs, sorted by text. */
export function countsOf(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts.toSorted()) counts[text] = (counts[text] ?? 0) + 1
  return counts
}

/** For each of these notes the time of the last note of the same contender with this `what` before it. */
export function sinceOf<N extends Note>(notes: readonly N[], what: N['what']): Map<N, number> {
  const last = new Map<string, number>()
  const since = new Map<N, number>()
  for (const note of notes) {
    if (note.what === what) last.set(note.contender, note.at)
    since.set(note, last.get(note.contender) ?? note.at)
  }
  return since
}

// What a run of a scenario was told, by whom and in which order.
import { NormalForm, type Surroundings } from './normal-form.ts'

/** Words, or a value to be shown in normal form; its field says what a number stands for. */
export type Part = string | { readonly field?: string; readonly value: unknown }

type Line = readonly Part[]

interface Phase {
  /** By who heard them. */
  readonly lines: Map<string, Line[]>
  readonly isUnordered: boolean
}

export interface PhaseOptions {
  /** Events that came in a row are told in an order that says nothing. */
  readonly isUnordered?: boolean
}

/** How the line of an event begins. */
export const EVENT = 'event'

/**
 * Connections hear their servers at the same time, and only each for itself in a certain order. So a transcript is a
 * sequence of phases, and in each phase come the lines of one connection after those of the other.
 */
export class Transcript {
  readonly #phases: Phase[] = []
  #lines = new Map<string, Line[]>()
  /** Names of session ids. */
  readonly #sessions = new Map<bigint, string>()

  /** Gives a connection or the scenario itself its place among the others: that of their first lines. */
  join(who: string): void {
    if (!this.#lines.has(who)) this.#lines.set(who, [])
  }

  tell(who: string, ...line: Line): void {
    this.join(who)
    this.#lines.get(who)!.push(line)
  }

  /** What is told from now on comes behind all that was told before. */
  nextPhase({ isUnordered = false }: PhaseOptions = {}): void {
    this.#phases.push({ lines: this.#lines, isUnordered })
    this.#lines = new Map(Array.from(this.#lines.keys(), (who) => [who, []]))
  }

  /** A session that was not seen before gets the next name. */
  nameSession(id: bigint): void {
    if (id !== 0n && !this.#sessions.has(id)) this.#sessions.set(id, `session ${this.#sessions.size + 1}`)
  }

  /** By phase, in normal form: equal for runs that were told the same. */
  render(surroundings: Surroundings): readonly string[] {
    this.nextPhase()
    const form = new NormalForm(this.#sessions, surroundings)
    for (const part of this.#phases.flatMap(({ lines }) => [...lines.values()].flat(2))) {
      if (typeof part !== 'string') form.learn(part.value, part.field)
    }
    return this.#phases.map(({ lines, isUnordered }) => {
      const shown = Array.from(lines, ([who, heard]) => {
        const texts = heard.map((line) => `${who}: ${show(line, form)}`)
        return isUnordered ? sortEvents(texts, `${who}: ${EVENT} `) : texts
      })
      return shown.flat().join('\n')
    })
  }
}

function show(line: Line, form: NormalForm): string {
  const parts = line.map((part) => (typeof part === 'string' ? part : form.show(part.value, part.field)))
  return parts.filter((part) => part !== '').join(' ')
}

/** Sorts each run of events for itself. */
function sortEvents(lines: readonly string[], beginning: string): string[] {
  const sorted: string[] = []
  let run: string[] = []
  for (const line of lines) {
    if (line.startsWith(beginning)) run.push(line)
    else {
      sorted.push(...run.sort(), line)
      run = []
    }
  }
  return [...sorted, ...run.sort()]
}

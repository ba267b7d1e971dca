// What a run of a scenario was told, by whom and in which order.
import { NormalForm, type Surroundings } from './normal-form.ts'

/** Words, or a value to be shown in normal form; its field says what a number stands for. */
export type Part = string | { readonly field?: string; readonly value: unknown }

type Line = readonly Part[]

/**
 * Connections hear their servers at the same time, and only each for itself in a certain order. So a transcript is a
 * sequence of phases, and in each phase come the lines of one connection after those of the other.
 */
export class Transcript {
  readonly #phases: Map<string, Line[]>[] = [new Map()]
  /** Names of session ids. */
  readonly #sessions = new Map<bigint, string>()

  /** Gives a connection or the scenario itself its place among the others: that of their first lines. */
  join(who: string): void {
    const phase = this.#phases.at(-1)!
    if (!phase.has(who)) phase.set(who, [])
  }

  tell(who: string, ...line: Line): void {
    this.join(who)
    this.#phases.at(-1)!.get(who)!.push(line)
  }

  /** What is told from now on comes behind all that was told before. */
  nextPhase(): void {
    const names = this.#phases.at(-1)!.keys()
    this.#phases.push(new Map(Array.from(names, (name) => [name, []])))
  }

  /** A session that was not seen before gets the next name. */
  nameSession(id: bigint): void {
    if (id !== 0n && !this.#sessions.has(id)) this.#sessions.set(id, `session ${this.#sessions.size + 1}`)
  }

  /** By phase, in normal form: equal for runs that were told the same. */
  render(surroundings: Surroundings): readonly string[] {
    const form = new NormalForm(this.#sessions, surroundings)
    for (const part of this.#phases.flatMap((phase) => [...phase.values()].flat(2))) {
      if (typeof part !== 'string') form.learn(part.value, part.field)
    }
    return this.#phases.map((phase) => {
      const lines = [...phase].flatMap(([who, lines]) => lines.map((line) => `${who}: ${shown(line, form)}`))
      return lines.join('\n')
    })
  }
}

function shown(line: Line, form: NormalForm): string {
  const parts = line.map((part) => (typeof part === 'string' ? part : form.show(part.value, part.field)))
  return parts.filter((part) => part !== '').join(' ')
}

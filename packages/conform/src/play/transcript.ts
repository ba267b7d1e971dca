// Everything that the connections of a scenario received, in order.
import { NormalForm, type Surroundings } from './normal-form.ts'

/** A frame, or other bytes, as one connection sent or received it. */
export interface Frame {
  /** The name of the connection: a, b, c … */
  readonly connection: string
  /** As the connection sees it, which is the client's end. */
  readonly direction: 'sent' | 'received'
  /** At most 4,096; the rest is cut off. */
  readonly bytes: Uint8Array
}

/** A text, or a value that is shown in normal form: `field` says what a number means. A frame is not shown. */
export type Part = string | { readonly field?: string | undefined; readonly value: unknown } | { readonly frame: Frame }

/** A line: parts with spaces between them. */
type Line = readonly Part[]

interface Phase {
  /** The lines of each connection. */
  readonly lines: Map<string, Line[]>
  readonly isUnordered: boolean
}

/** What is known about the order of a phase that ends. */
export interface PhaseOptions {
  /** Consecutive events have no fixed order, so they are sorted. @default false */
  isUnordered?: boolean | undefined
}

/** The beginning of the line of an event. */
export const EVENT = 'event'

const MOST_FRAMES = 500
/** In bytes. */
const LONGEST_FRAME = 4_096

/**
 * The order in which different connections receive is not fixed, but the order on one connection is. So a transcript is a
 * sequence of phases, and in each phase all lines of one connection come before those of the next.
 */
export class Transcript {
  readonly #phases: Phase[] = []
  #lines = new Map<string, Line[]>()
  readonly #frames: Frame[] = []
  /** For each phase, the frames of each line as it was rendered. */
  readonly #framesOf: Map<string, readonly Frame[]>[] = []
  /** The name of each session id. */
  readonly #sessions = new Map<bigint, string>()

  /** Gives a connection, or the scenario itself, its place in each phase: in the order of the calls. */
  join(source: string): void {
    if (!this.#lines.has(source)) this.#lines.set(source, [])
  }

  /** Adds a line to the current phase of a connection. */
  add(source: string, ...line: Line): void {
    this.join(source)
    this.#lines.get(source)!.push(line)
  }

  /** Keeps the bytes, for reports of what was sent and received. Only the first ones are kept. */
  addFrame(frame: Frame): void {
    if (this.#frames.length < MOST_FRAMES) this.#frames.push(shortened(frame))
  }

  /** The first 500, of all connections, in order. */
  get frames(): readonly Frame[] {
    return this.#frames
  }

  /** The frames of a line that was rendered, request and reply. If equal lines are in one phase, those of the first one. */
  framesOf(phase: number, line: string): readonly Frame[] {
    return this.#framesOf[phase]?.get(line) ?? []
  }

  /** Begins a new phase: later lines come after all earlier ones. */
  nextPhase({ isUnordered = false }: PhaseOptions = {}): void {
    this.#phases.push({ lines: this.#lines, isUnordered })
    this.#lines = new Map(Array.from(this.#lines.keys(), (source) => [source, []]))
  }

  /** Gives a new session the next name. */
  nameSession(id: bigint): void {
    if (id !== 0n && !this.#sessions.has(id)) this.#sessions.set(id, `session ${this.#sessions.size + 1}`)
  }

  /** One text for each phase, in normal form. Runs that have received the same have equal texts. */
  render(surroundings: Surroundings): readonly string[] {
    this.nextPhase()
    const form = new NormalForm(this.#sessions, surroundings)
    for (const part of this.#phases.flatMap(({ lines }) => [...lines.values()].flat(2))) {
      if (typeof part !== 'string' && 'value' in part) form.learn(part.value, part.field)
    }
    return this.#phases.map(({ lines, isUnordered }) => {
      const framesOf = new Map<string, readonly Frame[]>()
      this.#framesOf.push(framesOf)
      const shown = Array.from(lines, ([source, entries]) => {
        const texts = entries.map((line) => {
          const text = `${source}: ${show(line, form)}`
          if (!framesOf.has(text)) framesOf.set(text, framesIn(line))
          return text
        })
        return isUnordered ? sortEvents(texts, `${source}: ${EVENT} `) : texts
      })
      return shown.flat().join('\n')
    })
  }
}

function show(line: Line, form: NormalForm): string {
  const parts = line.map((part) => {
    if (typeof part === 'string') return part
    return 'value' in part ? form.show(part.value, part.field) : ''
  })
  return parts.filter((part) => part !== '').join(' ')
}

function framesIn(line: Line): readonly Frame[] {
  return line.flatMap((part) => (typeof part !== 'string' && 'frame' in part ? [shortened(part.frame)] : []))
}

function shortened({ bytes, ...frame }: Frame): Frame {
  return { ...frame, bytes: bytes.slice(0, LONGEST_FRAME) }
}

/** Sorts each series of consecutive events. */
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

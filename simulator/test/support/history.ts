// Histories made by hand, for checks to look at.
import type { Happening, Recorded } from '../../src/history/history.ts'
import type { EndState, Played } from '../../src/history/played.ts'
import { type Life, ServerLog } from '../../src/history/server-log.ts'
import { PATH, SET } from '../../src/play/paths.ts'
import { draw } from '../../src/scenario/draw.ts'
import type { WorkloadName } from '../../src/recipes/index.ts'
import type { Task } from '../../src/scenario/scenario.ts'

export const task: Task = { kind: 'exclusive', how: 'acquire', after: 0, hold: [], writes: 'both' }

export const paths = ['a', 'b'].map((letter, index) => {
  const uuid = '00000000-0000-4000-8000-00000000000x'.replace('x', letter)
  return `${PATH}/_c_${uuid}-lock-000000000${index}`
}) as [string, string]

/** Attempt 0 of client 0, then attempt 1 of client 1, which had to wait, and whose check was committed. */
export function sound(): Draft {
  const [first, second] = paths
  return new Draft()
    .add(10, { type: 'attempted', attempt: 0, client: 0, task })
    .add(10, { type: 'attempted', attempt: 1, client: 1, task })
    .node({ path: first, czxid: 1n, owner: 100n, createdAt: 20, end: { zxid: 4n, at: 50, how: 'deleted' } })
    .node({ path: second, czxid: 2n, owner: 200n, createdAt: 21, end: { zxid: 6n, at: 80, how: 'deleted' } })
    .add(30, { type: 'granted', attempt: 0, client: 0, kind: 'exclusive', path: first, fence: 1n })
    .add(30, { type: 'asked', attempt: 0, isHeld: true })
    .add(31, { type: 'queued', attempt: 1, ahead: [first] })
    .add(35, { type: 'guarded', attempt: 0, entry: `${SET}/0000000000` })
    .node({ path: `${SET}/0000000000`, czxid: 3n, data: '1', createdAt: 34 })
    .add(40, { type: 'fenced', attempt: 0, kind: 'exclusive', fence: 1n, isAccepted: true })
    .add(45, { type: 'lost', attempt: 0, reason: 'Released' })
    .add(55, { type: 'released', attempt: 0, isSessionOver: false })
    .add(56, { type: 'done', attempt: 0 })
    .checked({ path: second, zxid: 5n, session: 200n, at: 60 })
    .add(65, { type: 'granted', attempt: 1, client: 1, kind: 'exclusive', path: second, fence: 2n })
    .add(65, { type: 'asked', attempt: 1, isHeld: true })
    .add(70, { type: 'lost', attempt: 1, reason: 'Released' })
    .add(85, { type: 'released', attempt: 1, isSessionOver: false })
    .add(86, { type: 'done', attempt: 1 })
}

type NewLife = Partial<Life> & Pick<Life, 'path' | 'czxid' | 'createdAt'>

export class Draft {
  readonly #history: Recorded[] = []
  readonly #log = new ServerLog([])
  #end: Partial<EndState> = {}
  #events: Played['events'] = []
  #recipe: WorkloadName = 'Lock'
  #holdOptions: Task['holdOptions']
  #shortened: Played['shortened'] = new Set()
  #committed: Played['committed'] = []

  add(at: number, happening: Happening): this {
    this.#history.push({ ...happening, at })
    return this
  }

  node(life: NewLife): this {
    const { czxid: fence, place = fence } = life
    this.#log.begin({ data: '', owner: 0n, end: undefined, fence: place, ...life, place })
    return this
  }

  checked(check: ServerLog['checks'][number]): this {
    this.#log.checks.push(check)
    return this
  }

  end(end: Partial<EndState>): this {
    this.#end = { ...this.#end, ...end }
    return this
  }

  events(events: Played['events']): this {
    this.#events = events
    return this
  }

  recipe(recipe: WorkloadName): this {
    this.#recipe = recipe
    return this
  }

  /** The durations of every task. */
  holdOptions(options: Task['holdOptions'] & object): this {
    this.#holdOptions = options
    return this
  }

  committed(...committed: Played['committed']): this {
    this.#committed = committed
    return this
  }

  shortened(...sessions: readonly bigint[]): this {
    this.#shortened = new Set(sessions)
    return this
  }

  /** Takes out what was added before. */
  without(isUnwanted: (each: Recorded) => boolean): this {
    const kept = this.#history.filter((each) => !isUnwanted(each))
    this.#history.splice(0, Infinity, ...kept)
    return this
  }

  withoutChecks(): this {
    this.#log.checks.length = 0
    return this
  }

  played(): Played {
    const holdOptions = this.#holdOptions
    const history = this.#history
      .map((each) => {
        if (each.type !== 'attempted' || holdOptions === undefined) return each
        return { ...each, task: { ...each.task, holdOptions } }
      })
      .sort((one, other) => one.at - other.at)
    const end = {
      at: 100,
      pending: [],
      nodes: [],
      serverWatches: 0,
      unconnected: [],
      timers: 0,
      links: 0,
      watched: [],
      ...this.#end,
    }
    const scenario = draw({ seed: 1, recipe: this.#recipe, faults: [] })
    const shortened = this.#shortened
    const committed = this.#committed
    return {
      scenario,
      history,
      log: this.#log,
      committed,
      lines: [],
      lookUps: [],
      events: this.#events,
      shortened,
      calmAt: 0,
      end,
    }
  }
}

// What a person sees while a run is under way.
import type { FuzzResult } from '../fuzz/index.ts'
import { isFailure, type JudgedClause, type JudgedScenario } from '../judge/index.ts'
import type { Terminal } from './terminal.ts'

export class Progress {
  readonly #terminal: Terminal
  #clauses = 0
  #scenarios = 0
  #different = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  clause({ id, verdict }: JudgedClause): void {
    this.#clauses++
    if (isFailure(verdict)) this.#different++
    this.#show(id)
  }

  scenario({ name }: JudgedScenario): void {
    this.#scenarios++
    this.#show(name)
  }

  programs({ tried, differences }: FuzzResult): void {
    if (!this.#terminal.isInteractive) return
    const different = differences.length > 0 ? `, ${differences.length} different` : ''
    this.#terminal.status(`${tried} programs${different}`)
  }

  end(): void {
    if (this.#terminal.isInteractive) this.#terminal.status('')
  }

  #show(last: string): void {
    if (!this.#terminal.isInteractive) return
    const parts = [`${this.#clauses} clauses`]
    if (this.#scenarios > 0) parts.push(`${this.#scenarios} scenarios`)
    if (this.#different > 0) parts.push(`${this.#different} different`)
    this.#terminal.status(`${parts.join(', ')}  ${last}`.slice(0, 100))
  }
}

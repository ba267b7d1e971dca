import type { ErrorName, OpCode } from '@zk/wire'

export type OpName = keyof typeof OpCode

/** What becomes of a request. */
export type Fault =
  /** the connection is cut before it is done */
  | 'loseRequest'
  /** it is done, and the connection cut before the answer is sent */
  | 'loseReply'
  /** it is done and answered, and garbage comes in one piece with the answer: the client drops the connection */
  | 'garbage'
  /** it is neither done nor ever answered; the connection stays */
  | 'ignore'
  /** it is not done, and answered with this code */
  | { readonly fail: ErrorName }

export interface FaultScope {
  /** Which request of the kind, counted from now, from 1. @default 1 */
  readonly nth?: number
  /** How many in a row. @default 1 */
  readonly times?: number
  /** Only requests of this session. @default all */
  readonly session?: bigint
}

interface Rule {
  readonly op: OpName
  readonly fault: Fault
  readonly session: bigint | undefined
  skip: number
  times: number
}

/** Requests that shall go wrong. */
export class Faults {
  #rules: Rule[] = []

  on(op: OpName, fault: Fault, { nth = 1, times = 1, session }: FaultScope = {}): void {
    this.#rules.push({ op, fault, session, skip: nth - 1, times })
  }

  /** How many requests are still to go wrong. */
  get left(): number {
    return this.#rules.length
  }

  clear(): void {
    this.#rules = []
  }

  /** What becomes of this request; undefined when it is treated as it should be. */
  take(op: OpName, session: bigint): Fault | undefined {
    const mine = this.#rules.filter((rule) => rule.op === op && (rule.session ?? session) === session)
    const due = mine.find(({ skip }) => skip === 0)
    for (const rule of mine) if (rule.skip > 0) rule.skip--
    if (due === undefined) return undefined
    due.times--
    if (due.times === 0) this.#rules = this.#rules.filter((rule) => rule !== due)
    return due.fault
  }
}

// The events of a history of steps, as their clients saw them.

/** One call of a `Counter`. */
export interface Count {
  /** Every change adds 4 to the power of its number. So the value shows which changes have happened, and how often. */
  readonly number: number
  readonly how: 'add' | 'update' | 'get'
  readonly timeout?: number
  /** How long after the call the signal aborts. */
  readonly abortAfter?: number
}

/** How a call ended. */
export type StepOutcome<Value> =
  | { readonly how: 'resolved'; readonly value: Value }
  | { readonly how: 'rejected'; readonly error: string; readonly outcomeUnknown: boolean }
  /** It rejected with the reason of its signal. */
  | { readonly how: 'aborted' }

export type StepHappening =
  | {
      readonly type: 'counting'
      /** Calls are numbered from 0 in the whole history. */
      readonly call: number
      readonly client: number
      readonly count: Count
      readonly session: bigint
      /** By when it must settle, in ms. */
      readonly within: number
    }
  /** A call of a recipe that holds nothing. */
  | {
      readonly type: 'passing'
      readonly call: number
      readonly client: number
      /** The method. */
      readonly what: string
      /** What it is about, if that matters to a check, such as the node of the member that leaves. */
      readonly about?: string
      readonly within: number
    }
  /** The value is the text that a check needs, such as the path of the node of the member that entered. */
  | { readonly type: 'passed'; readonly call: number; readonly outcome: StepOutcome<string> }
  | { readonly type: 'counted'; readonly call: number; readonly session: bigint; readonly outcome: StepOutcome<bigint> }

import { type Fault, type Matcher, strikesRequest, type Subject } from './fault.ts'

/** A scripted fault: the frames that it strikes, and how many times it has struck. */
export class FaultRule {
  /** What the fault does. */
  readonly fault: Fault
  readonly #matches: Matcher
  readonly #remove: (rule: FaultRule) => void
  #skip: number
  #left: number
  /** The number of frames that it has seized, but not struck yet. */
  #seized = 0
  #count = 0
  #fired: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  /** @internal */
  constructor(
    fault: Fault,
    matches: Matcher,
    { nth, times }: { readonly nth: number; readonly times: number },
    remove: (rule: FaultRule) => void,
  ) {
    this.fault = fault
    this.#matches = matches
    this.#skip = nth - 1
    this.#left = times
    this.#remove = remove
  }

  /** How many times the fault has struck. */
  get count(): number {
    return this.#count
  }

  /**
   * Resolves when the fault has struck for the first time. After `loseReply`, for example, the request has been executed by
   * then. Stays pending if no frame matches, or if the rule is removed or the ensemble is closed before.
   */
  get fired(): Promise<void> {
    this.#fired ??= pending()
    if (this.#count > 0) this.#fired.resolve()
    return this.#fired.promise
  }

  /** Removes the rule. It still strikes the frames that it has already seized. */
  remove(): void {
    this.#left = 0
    this.#remove(this)
  }

  /** Whether the fault strikes the request, before it is executed. @internal */
  get strikesRequest(): boolean {
    return strikesRequest(this.fault.type)
  }

  /** Whether the rule seizes this frame. Counts it if it matches. After true, `fire` or `release` must follow. @internal */
  seizes(subject: Subject, isFree: boolean): boolean {
    if (!this.#matches(subject)) return false
    if (this.#skip > 0) {
      this.#skip--
      return false
    }
    if (!isFree || this.#left === 0) return false
    this.#left--
    this.#seized++
    return true
  }

  /** The fault has struck a seized frame. @internal */
  fire(): void {
    this.#seized--
    this.#count++
    if (this.#left === 0 && this.#seized === 0) this.#remove(this)
    this.#fired?.resolve()
  }

  /** A seized frame was dropped with its connection before it was struck: the rule may strike another one. @internal */
  release(): void {
    this.#seized--
    this.#left++
  }
}

function pending(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

import { type Fault, type Matcher, strikesRequest, type Subject } from './fault.ts'

/** One scripted fault: which frames it is about, and how often it has struck. */
export class FaultRule {
  /** What it does. */
  readonly fault: Fault
  readonly #matches: Matcher
  readonly #remove: (rule: FaultRule) => void
  #skip: number
  #left: number
  /** Frames that it will strike when their time comes. */
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

  /** How often it has struck. */
  get count(): number {
    return this.#count
  }

  /**
   * Resolves when it has struck for the first time: a lost reply is then lost, and what it answered has happened. Stays
   * pending, without an error, while no frame matches, and for good once the rule is taken back or the ensemble closed.
   */
  get fired(): Promise<void> {
    this.#fired ??= pending()
    if (this.#count > 0) this.#fired.resolve()
    return this.#fired.promise
  }

  /** Takes it back. What it has seized already still gets it. */
  remove(): void {
    this.#left = 0
    this.#remove(this)
  }

  /** Whether it is about the request, before it is done. @internal */
  get strikesRequest(): boolean {
    return strikesRequest(this.fault.type)
  }

  /** Whether it seizes this frame; counts it if it is one of its kind. `fire` or `release` follows. @internal */
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

  /** It has struck. @internal */
  fire(): void {
    this.#seized--
    this.#count++
    if (this.#left === 0 && this.#seized === 0) this.#remove(this)
    this.#fired?.resolve()
  }

  /** What it has seized died before it could strike, with its connection: it strikes another one. @internal */
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

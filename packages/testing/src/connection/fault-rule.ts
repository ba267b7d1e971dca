import type { Fault, Matcher, Subject } from './fault.ts'

/** One scripted fault: which frames it is about, and how often it has struck. */
export class FaultRule {
  readonly fault: Fault
  /** How often it has struck. */
  count = 0
  readonly #matches: Matcher
  readonly #remove: (rule: FaultRule) => void
  #skip: number
  #left: number
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

  /**
   * Resolves when it has struck for the first time: a lost reply is then lost, and what it answered has happened. It
   * stays pending when that never comes.
   */
  get fired(): Promise<void> {
    this.#fired ??= pending()
    if (this.count > 0) this.#fired.resolve()
    return this.#fired.promise
  }

  /** Takes it back. What it has seized already still gets it. */
  remove(): void {
    this.#left = 0
    this.#remove(this)
  }

  /** Whether it is about the request, before it is done. @internal */
  get strikesRequest(): boolean {
    const { type } = this.fault
    return type === 'loseRequest' || type === 'delayRequest' || type === 'fail'
  }

  /** Whether it seizes this frame; counts it if it is one of its kind. @internal */
  seizes(subject: Subject, isFree: boolean): boolean {
    if (!this.#matches(subject)) return false
    if (this.#skip > 0) {
      this.#skip--
      return false
    }
    if (!isFree) return false
    this.#left--
    if (this.#left === 0) this.#remove(this)
    return true
  }

  /** It has struck. @internal */
  fire(): void {
    this.count++
    this.#fired?.resolve()
  }
}

function pending(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

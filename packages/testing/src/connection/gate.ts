/** The reasons for which the bytes of a client wait. */
export type WaitReason =
  /** The connection is frozen, either alone ('user') or with its member. */
  | 'user'
  | 'member'
  /** A request is delayed by a fault. */
  | 'delayed'
  /** Too many requests wait for their answers. */
  | 'crowded'
  /** Too many bytes wait to be sent. */
  | 'full'
  /** The driver has set it: the client does not read. */
  | 'clogged'

/** Decides whether the bytes of a client are read, or wait. */
export class Gate {
  /** Called when the gate opens or closes. */
  onChange: (isOpen: boolean) => void = () => {}
  readonly #reasons = new Set<WaitReason>()
  #isGone = false

  /** True while there is no reason to wait. */
  get isOpen(): boolean {
    return this.#reasons.size === 0
  }

  /** Whether this reason holds. */
  has(reason: WaitReason): boolean {
    return this.#reasons.has(reason)
  }

  /** Sets or clears this reason. */
  set(reason: WaitReason, holds: boolean): void {
    if (this.#isGone || this.has(reason) === holds) return
    const wasOpen = this.isOpen
    if (holds) this.#reasons.add(reason)
    else this.#reasons.delete(reason)
    if (this.isOpen !== wasOpen) this.onChange(this.isOpen)
  }

  /** Opens the gate forever: from now on input is dropped. */
  remove(): void {
    if (this.#isGone) return
    const wasOpen = this.isOpen
    this.#isGone = true
    this.#reasons.clear()
    if (!wasOpen) this.onChange(true)
  }
}

/** Passes items in order: at once, after a delay, or only when the gate is opened again. */
export class Gate {
  readonly #held: { readonly act: () => void; readonly due: number }[] = []
  #isOpen = true
  #delay = 0
  #timer: NodeJS.Timeout | undefined

  pass(act: () => void): void {
    this.#held.push({ act, due: performance.now() + this.#delay })
    this.#letThrough()
  }

  shut(): void {
    this.#isOpen = false
  }

  open(): void {
    this.#isOpen = true
    this.#letThrough()
  }

  /** The delay of each item from now on, in ms. */
  set delay(ms: number) {
    this.#delay = ms
  }

  #letThrough(): void {
    clearTimeout(this.#timer)
    while (this.#isOpen) {
      const [first] = this.#held
      if (first === undefined) return
      const wait = first.due - performance.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#letThrough(), wait)
        return
      }
      this.#held.shift()
      first.act()
    }
  }
}

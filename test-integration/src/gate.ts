/** Passes items in order: at once while it is open, otherwise when it is opened again. */
export class Gate {
  #held: (() => void)[] = []
  #isOpen = true

  pass(act: () => void): void {
    if (this.#isOpen) act()
    else this.#held.push(act)
  }

  shut(): void {
    this.#isOpen = false
  }

  open(): void {
    this.#isOpen = true
    const held = this.#held
    this.#held = []
    for (const act of held) act()
  }
}

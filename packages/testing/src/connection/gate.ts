/** Why the bytes of a client wait. */
export type Obstacle =
  /** Frozen, by a control of its own or with its member. */
  | 'user'
  | 'member'
  /** A request is on its way for longer. */
  | 'delayed'
  /** Too many requests wait for their answers. */
  | 'crowded'
  /** Too many bytes wait to leave. */
  | 'full'
  /** The driver says so: its client does not read. */
  | 'clogged'

/** Whether the bytes of a client are read, or wait where they are. */
export class Gate {
  /** Told when that changes. */
  onChange: (isOpen: boolean) => void = () => {}
  readonly #obstacles = new Set<Obstacle>()
  #isGone = false

  /** True while nothing is in the way. */
  get isOpen(): boolean {
    return this.#obstacles.size === 0
  }

  /** Whether this is in the way. */
  has(obstacle: Obstacle): boolean {
    return this.#obstacles.has(obstacle)
  }

  /** Puts this in the way, or takes it out of it. */
  set(obstacle: Obstacle, isInTheWay: boolean): void {
    if (this.#isGone || this.has(obstacle) === isInTheWay) return
    const wasOpen = this.isOpen
    if (isInTheWay) this.#obstacles.add(obstacle)
    else this.#obstacles.delete(obstacle)
    if (this.isOpen !== wasOpen) this.onChange(this.isOpen)
  }

  /** What comes from now on is of no use, and need not wait. */
  remove(): void {
    if (this.#isGone) return
    const wasOpen = this.isOpen
    this.#isGone = true
    this.#obstacles.clear()
    if (!wasOpen) this.onChange(true)
  }
}

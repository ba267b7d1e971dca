// Tells when everything begun so far is done, although new work begins all the time.

/** The work that began between two barriers. */
export interface Epoch {
  readonly number: number
  /** How much of it is still under way. */
  count: number
  readonly whenDone: (() => void)[]
}

export class Epochs {
  /** The epochs that are not over, oldest first. New work belongs to the last one. */
  #epochs: [...Epoch[], Epoch] = [{ number: 0, count: 0, whenDone: [] }]

  /** Some work begins. Work that belongs to other work has the same epoch. */
  begin(epoch: Epoch = this.#epochs.at(-1)!): Epoch {
    epoch.count++
    return epoch
  }

  end(epoch: Epoch): void {
    epoch.count--
    this.#settle()
  }

  /** Whether some work belongs to a later epoch. */
  hasYounger({ number }: Epoch): boolean {
    return this.#epochs.some((each) => each.number > number && each.count > 0)
  }

  /** Calls `done` when all work that has begun until now is done: at once if it already is. */
  barrier(done: () => void): void {
    const last = this.#epochs.at(-1)!
    last.whenDone.push(done)
    this.#epochs.push({ number: last.number + 1, count: 0, whenDone: [] })
    this.#settle()
  }

  #settle(): void {
    while (this.#epochs.length > 1 && this.#epochs[0].count === 0) {
      const { whenDone } = this.#epochs.shift()!
      for (const done of whenDone) done()
    }
  }
}

export function older(one: Epoch, other: Epoch): Epoch {
  return one.number < other.number ? one : other
}

import type { Runtime } from '@zk/client'
import { VirtualWorld } from './outside.ts'

/** A moment in a client's life: so many promises' hops behind the n-th thing it has received from the network. */
export interface Moment {
  readonly received: number
  readonly hops: number
}

/** A virtual world in which a test can act between any two steps of the code under test, not only when it rests. */
export class InterruptibleWorld extends VirtualWorld {
  #received = 0
  #interruption: { readonly at: Moment; readonly act: () => void } | undefined

  /** Calls `act` once, `at` this moment from now; 0 received is now. */
  interrupt(at: Moment, act: () => void): void {
    this.#received = 0
    this.#interruption = { at, act }
    if (at.received === 0) this.#interruptSoon()
  }

  /** Whether the moment has not come. */
  get isInterruptionDue(): boolean {
    return this.#interruption !== undefined
  }

  override dial(...[target, handler]: Parameters<Runtime['dial']>): ReturnType<Runtime['dial']> {
    return super.dial(target, {
      opened: () => this.#hear(() => handler.opened()),
      received: (bytes) => this.#hear(() => handler.received(bytes)),
      drained: () => handler.drained(),
      lost: (error) => this.#hear(() => handler.lost(error)),
    })
  }

  #hear(tell: () => void): void {
    tell()
    this.#received++
    if (this.#interruption?.at.received === this.#received) this.#interruptSoon()
  }

  #interruptSoon(): void {
    const { at, act } = this.#interruption!
    this.#interruption = undefined
    void afterHops(at.hops, act)
  }
}

async function afterHops(hops: number, act: () => void): Promise<void> {
  for (let hop = 0; hop < hops; hop++) await Promise.resolve()
  act()
}

// The look-ups of a client, one at a time for each name: look-ups that nobody waits for would pile up in the thread pool of
// the runtime. They outlive attempts, connections and sessions.
import type { LookupHandler, Runtime } from '../../runtime/runtime.ts'
import { deadlines } from '../protocol/deadlines.ts'

/** Gets the answers to all look-ups. */
export interface LookUpListener {
  found(host: string, addresses: readonly string[]): void
  failed(host: string, error: Error): void
}

export class LookUps {
  readonly #runtime: Runtime
  readonly #listener: LookUpListener
  /** When each look-up that is under way began. */
  readonly #begun = new Map<string, number>()

  constructor(runtime: Runtime, listener: LookUpListener) {
    this.#runtime = runtime
    this.#listener = listener
  }

  /** Looks the name up, unless a look-up of it is under way and may still be answered (`deadlines.lookUpLost`). */
  begin(host: string): void {
    const now = this.#runtime.now()
    if (now < (this.#begun.get(host) ?? -Infinity) + deadlines.lookUpLost()) return
    this.#begun.set(host, now)
    lookUp(this.#runtime, host, {
      found: (addresses) => {
        this.#begun.delete(host)
        this.#listener.found(host, addresses)
      },
      failed: (error) => {
        this.#begun.delete(host)
        this.#listener.failed(host, error)
      },
    })
  }
}

/** Lets the runtime look up a host name. Only its first answer counts. */
function lookUp(runtime: Runtime, host: string, handler: LookupHandler): void {
  let isOver = false
  const once = (handle: () => void) => {
    if (isOver) return
    isOver = true
    handle()
  }
  try {
    runtime.resolve?.(host, {
      found: (addresses) =>
        once(() => {
          if (areAddresses(addresses)) handler.found([...new Set(addresses)])
          else handler.failed(new TypeError(`the look-up of ${host} gave no list of addresses`))
        }),
      failed: (error: unknown) => once(() => handler.failed(error instanceof Error ? error : new Error(String(error)))),
    })
  } catch (error) {
    // If the runtime throws, the look-up has failed.
    once(() => handler.failed(error as Error))
  }
}

function areAddresses(found: unknown): found is readonly string[] {
  return Array.isArray(found) && found.every((each) => typeof each === 'string' && each !== '')
}

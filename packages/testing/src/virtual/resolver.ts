import type { LookupHandler } from './virtual-runtime.ts'
import type { Random } from './random.ts'
import type { VirtualProcess } from './virtual-process.ts'
import type { World } from './world.ts'
import { checkDuration } from '../options.ts'

/** A process that looks up names. */
interface LookupProcess {
  arrive(deliver: () => void): void
}

/** The faults in the look-ups of one process. */
interface Trouble {
  /** How many calls of `fail` are in force. */
  failures: number
  /** How much longer look-ups take, in ms, for each call of `slow` in force. The longest counts. */
  readonly delays: number[]
  /** Other addresses of names, the oldest first. The last one for a name counts. */
  readonly redirections: { readonly host: string; readonly addresses: readonly string[] }[]
}

export interface ResolverOptions {
  /** The longest time of a look-up, in ms. */
  readonly latency: number
  /** Addresses by name. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** The processes that may look up names. @default all */
  readonly processes?: readonly object[]
}

/**
 * Faults in the look-ups of a process. Each fault lasts until the returned function is called. A second call does nothing. A
 * fault does not change look-ups that are under way. Throws a `TypeError` or `RangeError` for an invalid argument.
 */
export interface VirtualNames {
  /** Look-ups fail (`EAI_AGAIN`), as if no name server answered. */
  fail(process: VirtualProcess): () => void
  /** Look-ups take `by` ms longer. If there are several delays, the longest counts. */
  slow(process: VirtualProcess, by: number): () => void
  /**
   * Gives this name other addresses: names of members, addresses at which nothing listens, or an empty list. If a name is
   * redirected several times, the last redirection counts.
   */
  redirect(process: VirtualProcess, host: string, addresses: readonly string[]): () => void
}

/** Looks up names for processes. It caches nothing. */
export class Resolver implements VirtualNames {
  readonly #world: World
  readonly #random: Random
  readonly #options: ResolverOptions
  readonly #troubles = new Map<object, Trouble>()

  constructor(world: World, random: Random, options: ResolverOptions) {
    this.#world = world
    this.#random = random
    this.#options = options
  }

  /** The names, in the order of the connect string. */
  get names(): readonly string[] {
    return [...this.#options.names.keys()]
  }

  /** The result is decided now, and arrives later, even if the caller does not wait any more. */
  resolve(process: LookupProcess, host: string, handler: LookupHandler): void {
    const { failures, delays, redirections } = this.#troubleOf(process)
    const redirected = redirections.findLast((each) => each.host === host)
    const addresses = failures > 0 ? undefined : (redirected?.addresses ?? this.#options.names.get(host))
    const latency = this.#random.below(this.#options.latency * 8 + 1) / 8
    this.#world.after(Math.max(0, ...delays) + latency, () =>
      process.arrive(() => {
        if (addresses === undefined) handler.failed(failure(failures > 0 ? 'EAI_AGAIN' : 'ENOTFOUND', host))
        else handler.found(addresses)
      }),
    )
  }

  // --- faults; the returned function ends them -----------------------------------------------------------------------

  fail(process: VirtualProcess): () => void {
    const trouble = this.#troubleOf(process)
    trouble.failures++
    return once(() => trouble.failures--)
  }

  slow(process: VirtualProcess, by: number): () => void {
    checkDuration('by', by)
    const { delays } = this.#troubleOf(process)
    delays.push(by)
    return once(() => delays.splice(delays.indexOf(by), 1))
  }

  redirect(process: VirtualProcess, host: string, addresses: readonly string[]): () => void {
    if (!Array.isArray(addresses)) throw new TypeError('addresses must be a list, such as of names of members')
    const { redirections } = this.#troubleOf(process)
    const redirection = { host, addresses }
    redirections.push(redirection)
    return once(() => redirections.splice(redirections.indexOf(redirection), 1))
  }

  #troubleOf(process: object): Trouble {
    if (this.#options.processes?.includes(process) === false) throw new TypeError('process must be one of this world')
    let trouble = this.#troubles.get(process)
    if (trouble === undefined) {
      trouble = { failures: 0, delays: [], redirections: [] }
      this.#troubles.set(process, trouble)
    }
    return trouble
  }
}

/** The error of `node:dns`. */
function failure(code: string, host: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code })
}

/** Calls `end` at the first call only. */
function once(end: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) end()
    isDone = true
  }
}

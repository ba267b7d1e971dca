import type { LookupHandler } from './virtual-runtime.ts'
import type { Random } from './random.ts'
import type { VirtualProcess } from './virtual-process.ts'
import type { World } from './world.ts'
import { checkDuration } from '../options.ts'

/** What is needed of a process that looks names up. */
interface LookingUp {
  arrive(deliver: () => void): void
}

/** What is wrong with the look-ups of one process. */
interface Trouble {
  /** How many reasons there are for them to fail. */
  failures: number
  /** How much longer they take, in ms, for each reason there is: the longest counts. */
  readonly delays: number[]
  /** Other addresses of a name, by age: the last count. */
  readonly redirections: { readonly host: string; readonly addresses: readonly string[] }[]
}

export interface ResolverOptions {
  /** Longest time of a look-up, in ms. */
  readonly latency: number
  /** Addresses by name. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** Whose look-ups they are. @default not checked */
  readonly processes?: readonly object[]
}

/**
 * What may befall the look-ups of a process, until the returned function is called. What is under way is as it was. Throws a
 * `TypeError` or `RangeError` for what cannot be.
 */
export interface VirtualNames {
  /** They fail: no name has an address. */
  fail(process: VirtualProcess): () => void
  /** They take so many ms longer. Of several the longest counts. */
  slow(process: VirtualProcess, by: number): () => void
  /** This name has these addresses: names of members, any other, where nothing listens, or none. Of several the last counts. */
  redirect(process: VirtualProcess, host: string, addresses: readonly string[]): () => void
}

/** Looks names up for processes, each time anew. */
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

  /** In the order of the connect string. */
  get names(): readonly string[] {
    return [...this.#options.names.keys()]
  }

  /** What it will answer is decided now; it comes when it comes, also when it is not waited for any more. */
  resolve(process: LookingUp, host: string, handler: LookupHandler): void {
    const { failures, delays, redirections } = this.#troubleOf(process)
    const redirected = redirections.findLast((each) => each.host === host)
    const addresses = failures > 0 ? undefined : (redirected?.addresses ?? this.#options.names.get(host))
    const latency = this.#random.below(this.#options.latency * 8 + 1) / 8
    this.#world.after(Math.max(0, ...delays) + latency, () =>
      process.arrive(() => {
        if (addresses === undefined) handler.failed(new Error(`getaddrinfo ENOTFOUND ${host}`))
        else handler.found(addresses)
      }),
    )
  }

  // --- what befalls look-ups; the returned function ends it ----------------------------------------------------------

  fail(process: VirtualProcess): () => void {
    const trouble = this.#troubleOf(process)
    trouble.failures++
    return () => trouble.failures--
  }

  slow(process: VirtualProcess, by: number): () => void {
    checkDuration('by', by)
    const { delays } = this.#troubleOf(process)
    delays.push(by)
    return () => delays.splice(delays.indexOf(by), 1)
  }

  redirect(process: VirtualProcess, host: string, addresses: readonly string[]): () => void {
    if (!Array.isArray(addresses)) throw new TypeError('addresses must be a list, such as of names of members')
    const { redirections } = this.#troubleOf(process)
    const redirection = { host, addresses }
    redirections.push(redirection)
    return () => redirections.splice(redirections.indexOf(redirection), 1)
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

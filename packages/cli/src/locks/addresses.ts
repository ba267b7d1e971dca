// Where the clients of sessions are, by the four-letter word cons, which each server answers for its own connections.
import type { DialTarget } from '@zk/client'
import { formatServer } from '@zk/wire'
import { say } from '../command/output.ts'
import { ask, clientsIn } from '../ensemble/four-letter-word.ts'

/** The answer lists all connections of a server: it is not asked for again before this has passed. In ms. */
const REPEAT = 2_000

export class Addresses {
  /** Gets what is to be said. */
  tell: (text: string) => void = say
  readonly #servers: readonly DialTarget[]
  readonly #timeout: number
  #known: ReadonlyMap<bigint, string> = new Map()
  #askedAt = -Infinity
  /** What was said of a server is not said again. */
  readonly #said = new Set<string>()

  /** `timeout` is for the answer of a server, in ms. */
  constructor(servers: readonly DialTarget[], timeout: number) {
    this.#servers = servers
    this.#timeout = timeout
  }

  /** Asks the servers if the address of one of these sessions is not known. A session without a connection has none. */
  async find(sessions: readonly bigint[]): Promise<void> {
    if (sessions.every((session) => this.#known.has(unsigned(session)))) return
    if (performance.now() - this.#askedAt < REPEAT) return
    this.#askedAt = performance.now()
    const answers = this.#servers.map(async (server) => {
      const answer = await ask(server, 'cons', { timeout: this.#timeout })
      if (answer.name === 'text') return [...clientsIn(answer.text)]
      const why = answer.name === 'none' ? answer.why : 'the word cons is not in its 4lw.commands.whitelist'
      this.#sayOnce(`addresses of clients of ${formatServer(server)} are not known: ${why}`)
      return []
    })
    this.#known = new Map((await Promise.all(answers)).flat())
  }

  /** undefined if it is not known. */
  of(session: bigint): string | undefined {
    return this.#known.get(unsigned(session))
  }

  #sayOnce(text: string): void {
    if (this.#said.has(text)) return
    this.#said.add(text)
    this.tell(text)
  }
}

/** Servers write sessions unsigned. */
const unsigned = (session: bigint): bigint => BigInt.asUintN(64, session)

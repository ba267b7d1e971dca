import { EnsembleModel, type Link, type LoggedTxn, type Output } from '@zk/testing'
import { WALL_START, type ServerEnd, Random } from '@zk/testing/internal'
import { watchesAt } from '../play/monitor.ts'
import type { Cable } from './cable.ts'

const NAME = 'zk1'
const FRAME = new RegExp(`^.* ${NAME} (.+)$`, 'gm')
/** The time by which it serves. From then on its time stands still: only the operator expires sessions. */
const NOW = 1_000

interface ServerOptions {
  readonly now: () => number
  readonly isTraced: boolean
  readonly folders: readonly string[]
}

/** One server, whose commits are stamped with the time of the history. */
export class Server {
  readonly log: LoggedTxn[] = []
  readonly #model: EnsembleModel
  readonly #now: () => number
  /** The parents of contenders' nodes. */
  readonly #folders: readonly string[]
  readonly #cables = new Map<Link, Cable>()
  /** The client of each session. */
  readonly #clients = new Map<bigint, number>()
  #seen = 0n

  constructor({ now, isTraced, folders }: ServerOptions) {
    this.#now = now
    this.#folders = folders
    this.#model = new EnsembleModel({
      members: [NAME],
      history: { entries: isTraced ? 10_000 : 0 },
      now: () => NOW,
      random: new Random(1, 'server').next,
      wallNow: () => WALL_START,
    })
    this.#perform(this.#model.elapse(NOW))
    if (this.#model.leader === undefined) throw new Error('the server does not serve')
  }

  // --- connections --------------------------------------------------------------------------------------------------

  accept(cable: Cable): ServerEnd | undefined {
    const model = this.#model
    const link = model.accept(NAME, { address: cable.name }, NOW)
    if (link === undefined) return undefined
    this.#cables.set(link, cable)
    return {
      received: (bytes) => this.#perform(model.received(link, bytes, NOW)),
      closed: () => {
        this.#cables.delete(link)
        this.#perform(model.closed(link, NOW))
      },
    }
  }

  // --- the operator -------------------------------------------------------------------------------------------------

  create(path: string, data?: Uint8Array): void {
    this.#model.nodes.create(path, { data })
    this.#perform(this.#model.elapse(NOW))
  }

  delete(path: string): void {
    this.#model.nodes.delete(path)
    this.#perform(this.#model.elapse(NOW))
  }

  expire(session: bigint): void {
    this.#model.sessions.expire(session)
    this.#perform(this.#model.elapse(NOW))
  }

  // --- its state ----------------------------------------------------------------------------------------------------

  /** The sessions that are alive, by their ids, with their clients. */
  get sessions(): { readonly id: bigint; readonly client: number }[] {
    const { connections } = this.#model.members[0]!
    for (const { id, session } of connections) this.#learn(id, session)
    const ids = this.#model.sessions.list().flatMap(({ id, isClosing }) => (isClosing ? [] : [id]))
    return ids.flatMap((id) => {
      const client = this.#clients.get(id)
      return client === undefined ? [] : [{ id, client }]
    })
  }

  /** The paths of contenders' nodes. */
  get contenders(): string[] {
    return this.#folders.flatMap((folder) => {
      return (this.#model.nodes.get(folder)?.children ?? []).map((name) => `${folder}/${name}`)
    })
  }

  get watches(): number {
    return watchesAt(this.#model, NAME, NOW)
  }

  /** Every frame as a line of text, if frames are traced. Time and member are the same for all, and left out. */
  get frames(): string[] {
    return Array.from(String(this.#model.history).matchAll(FRAME), ([, frame]) => frame!)
  }

  #learn(connection: number, session: bigint): void {
    if (session === 0n || this.#clients.has(session)) return
    for (const [link, { client }] of this.#cables) if (link.id === connection) this.#clients.set(session, client)
  }

  #perform(outputs: readonly Output[]): void {
    for (const output of outputs) {
      const cable = this.#cables.get(output.link)
      if (output.type === 'send') cable?.deliver(output.bytes)
      else {
        this.#cables.delete(output.link)
        cable?.closeByServer()
      }
    }
    this.#collect()
  }

  #collect(): void {
    const news = this.#model.committedAfter(this.#seen) ?? []
    for (const { header, txn } of news) {
      this.log.push({ header: { ...header, time: WALL_START + this.#now() }, txn })
      this.#seen = header.zxid
    }
  }
}

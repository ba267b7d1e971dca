// A small world in which the search chooses what happens next.
import { drain, TURNS } from '@zk/testing/internal'
import type { Happening, Recorded } from '../history/history.ts'
import { foldersOf, PATH } from '../play/paths.ts'
import type { Cable } from './cable.ts'
import * as choices from './choice.ts'
import type { AtClient, AtServer, Choice } from './choice.ts'
import { ClientProcess } from './client-process.ts'
import { Contestant } from './contestant.ts'
import {
  allParts,
  everything,
  type Footprint,
  granting,
  losing,
  ofClient,
  ofConnections,
  ofHolds,
  reading,
  writing,
} from './footprint.ts'
import type { FaultType, Scope } from './scope.ts'
import { Server } from './server.ts'
import { TreeParts } from './tree-parts.ts'

interface Client {
  readonly process: ClientProcess
  readonly contestant: Contestant
}

/** The duration of one step, in ms: more than the checks allow for rounding. */
export const STEP = 10

export interface WorldOptions {
  readonly scope: Scope
  /** Whether the server keeps all frames, decoded. @default false */
  readonly isTraced?: boolean
  /** Called after the promises of a client were drained. */
  readonly drained?: ((process: ClientProcess) => Promise<void>) | undefined
}

export class World {
  readonly scope: Scope
  readonly server: Server
  readonly clients: readonly Client[]
  readonly history: Recorded[] = []
  /** The clients to which something has happened since all had their sessions. */
  readonly involved = new Set<number>()
  /** How many steps were taken. */
  steps = 0
  readonly #drained: WorldOptions['drained']
  readonly #parts: TreeParts
  #faultsLeft: number
  #earlyLeft: number
  #isOver = false

  /** Resolves when all clients have their sessions, and their first requests are under way. */
  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options)
    await world.#connect()
    return world
  }

  private constructor({ scope, isTraced = false, drained }: WorldOptions) {
    this.scope = scope
    this.#drained = drained
    this.#faultsLeft = scope.faults.most
    this.#earlyLeft = scope.earlyTimers
    const { recipe, keepsSegments, permits, counts } = scope
    const folders = foldersOf(scope)
    this.#parts = new TreeParts(folders)
    this.server = new Server({ now: () => this.now, isTraced, folders })
    this.clients = scope.clients.map((kind, index) => {
      const process = new ClientProcess({ client: index, keepsSegments, accept: (cable) => this.server.accept(cable) })
      const record = (happening: Happening) => this.#record(happening)
      return {
        process,
        contestant: new Contestant({
          client: index,
          runtime: process,
          recipe,
          kind,
          permits,
          count: counts?.[index],
          locks: scope.locks?.[index],
          record,
        }),
      }
    })
  }

  /**
   * What may happen next: what is due, early timers, and faults. If nothing is due: the other timers, or the end if there are
   * none, and faults. After the end nothing.
   */
  choices(): Choice[] {
    if (this.#isOver) return []
    const due = this.#due()
    if (due.length > 0) return [...due, ...(this.#earlyLeft > 0 ? this.#timers('early') : []), ...this.#faults()]
    const last = this.#timers('last')
    return [...(last.length > 0 ? last : [choices.end]), ...this.#faults()]
  }

  /** Makes the choice happen, and returns what it touched. */
  async do(choice: Choice): Promise<Footprint> {
    this.steps++
    this.#noteInvolved(choice)
    if (choice.need === 'fault') this.#faultsLeft--
    if (choice.need === 'early') this.#earlyLeft--
    if (choice.client === undefined) return this.#atServer(choice)
    const { contestant, process } = this.clients[choice.client]!
    const before = this.history.length
    const nothingUnderWay = process.cables.every(({ up }) => up.length === 0)
    this.#atClient(choice, contestant, process)
    await drain(TURNS)
    await this.#drained?.(process)
    if (choice.need === 'last') return everything
    const news = this.history.slice(before)
    return news.reduce((bits, happening) => bits | this.#touched(happening, nothingUnderWay), ofClient(choice.client))
  }

  /** The time of the history, in ms. */
  get now(): number {
    return this.steps * STEP
  }

  // --- what may happen ----------------------------------------------------------------------------------------------

  #due(): Choice[] {
    const due: Choice[] = []
    for (const [client, { process, contestant }] of this.clients.entries()) {
      const { nextTimer } = process
      for (const cable of process.cables) if (cable.down.length > 0) due.push(choices.deliverDown(cable))
      if (nextTimer !== undefined && process.isDue(nextTimer)) due.push(choices.fire(client, nextTimer, 'due'))
      for (const cable of process.cables) if (cable.up.length > 0) due.push(choices.deliverUp(cable))
      if (contestant.phase === 'holding') due.push(choices.release(client))
    }
    return due
  }

  #timers(need: 'last' | 'early'): Choice[] {
    return this.clients.flatMap(({ process }, client) => {
      const { nextTimer } = process
      return nextTimer === undefined || process.isDue(nextTimer) ? [] : [choices.fire(client, nextTimer, need)]
    })
  }

  #faults(): Choice[] {
    const may = (type: FaultType) => this.#faultsLeft > 0 && this.scope.faults.types.includes(type)
    return [
      ...this.clients.flatMap(({ process: { cables } }) => cables.flatMap((cable) => this.#losses(cable))),
      ...(may('abort') ? this.#aborts() : []),
      ...(may('expire') ? this.server.sessions.map(({ id, client }) => choices.expire(client, id)) : []),
      ...(may('delete') ? this.server.contenders.map(choices.deleteNode) : []),
    ]
  }

  /** The losses that may be chosen. If the next message is already the end of the connection, it is delivered anyway. */
  #losses(cable: Cable): Choice[] {
    const may = this.#faultsLeft > 0 && this.scope.faults.types.includes('lose')
    if (!may && !cable.isBroken) return []
    const atClient = !cable.isDownOver && cable.down[0]?.type !== 'lost'
    const atServer = !cable.isUpOver && cable.up[0]?.type !== 'closed' && cable.up[0]?.type !== 'dial'
    return [...(atClient ? [choices.loseAtClient(cable)] : []), ...(atServer ? [choices.loseAtServer(cable)] : [])]
  }

  #aborts(): Choice[] {
    return this.clients.flatMap(({ contestant: { phase, isAborted } }, client) =>
      (phase === 'entering' || phase === 'waiting') && !isAborted ? [choices.abort(client)] : [],
    )
  }

  // --- what happens -------------------------------------------------------------------------------------------------

  #atClient(choice: AtClient, contestant: Contestant, process: ClientProcess): void {
    switch (choice.type) {
      case 'receive':
        return choice.cable.deliverDown()
      case 'lose':
        return choice.cable.loseAtClient()
      case 'fire':
        return process.fire(choice.timer)
      case 'release':
        return contestant.release()
      case 'abort':
        return contestant.abort()
    }
  }

  /** What an action of a client touches besides the client. `nothingUnderWay`: nothing was under way to the server. */
  #touched({ type }: Recorded, nothingUnderWay: boolean): Footprint {
    const isSemaphore = this.scope.recipe === 'Semaphore'
    if (type === 'granted') return isSemaphore ? granting : ofHolds
    if (type === 'lost') return isSemaphore ? losing : ofHolds
    // A release is checked against the deletion of its node. If nothing was under way, the node is deleted later, or never.
    return type === 'released' && !nothingUnderWay ? ofHolds : 0
  }

  #atServer(choice: AtServer): Footprint {
    switch (choice.type) {
      case 'receive':
        return this.#receive(choice.cable)
      case 'lose':
        choice.cable.loseAtServer()
        return reading(allParts) | ofConnections(choice.cable.client)
      case 'expire':
        this.#record({ type: 'forced', paths: [], session: choice.session })
        this.server.expire(choice.session)
        return writing(allParts)
      case 'delete':
        this.#record({ type: 'forced', paths: [choice.path], session: undefined })
        this.server.delete(choice.path)
        return writing(allParts)
      case 'end':
        this.#isOver = true
        return everything
    }
  }

  #receive(cable: Cable): Footprint {
    const next = cable.up[0]!
    const before = this.server.log.length
    const sent = this.clients.map(({ process }) => process.incoming)
    cable.deliverUp()
    const receivers = this.clients.reduce((bits, { process }, client) => {
      return process.incoming === sent[client] ? bits : bits | ofConnections(client)
    }, ofConnections(cable.client))
    const written = this.server.log.slice(before)
    return (
      receivers | (written.length > 0 ? writing(this.#parts.writtenBy(written)) : reading(this.#parts.readBy(next)))
    )
  }

  async #connect(): Promise<void> {
    const { clients, scope, server } = this
    if (scope.hasParent)
      server.create(PATH, scope.permits === undefined ? undefined : Uint8Array.of(0, 0, 0, scope.permits))
    if (scope.hasParent) for (const folder of foldersOf(scope)) if (folder !== PATH) server.create(folder)
    const failed = (error: unknown) => this.#record({ type: 'unexpected', what: String(error) })
    for (const { contestant } of clients) contestant.connect().catch(failed)
    await drain(TURNS)
    for (let [next] = this.#due(); next !== undefined; [next] = this.#due()) await this.do(next)
    this.involved.clear()
    for (const { contestant } of clients) contestant.compete().catch(failed)
    await drain(TURNS)
  }

  /** An event that belongs to no client may concern every client. */
  #noteInvolved(choice: Choice): void {
    const client = choices.clientOf(choice)
    if (client !== undefined) this.involved.add(client)
    else for (const each of this.clients.keys()) this.involved.add(each)
  }

  #record(happening: Happening): void {
    this.history.push({ ...happening, at: this.now })
  }
}

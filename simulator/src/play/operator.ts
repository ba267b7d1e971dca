import type { EnsembleModel } from '@zk/testing'
import type { Recorder } from '../history/recorder.ts'
import { CONFIG, PATH } from './paths.ts'

/** Children that are no contenders: the mark of a double barrier, and the record of a job. */
const stays = ['ready', 'done']

/** A client with all rights, which knows nothing of locks. It ignores refusals. */
export class Operator {
  readonly #model: EnsembleModel
  readonly #recorder: Recorder
  /** The parents of contenders' nodes. The first one numbers them. */
  readonly #folders: readonly string[]
  #isPreset = false

  constructor(model: EnsembleModel, recorder: Recorder, folders: readonly string[]) {
    this.#model = model
    this.#recorder = recorder
    this.#folders = folders
  }

  create(path: string, data?: Uint8Array): void {
    this.#model.nodes.create(path, { data })
  }

  /** Changes the node that clients watch. */
  touch(): void {
    this.#try(() => this.#model.nodes.setData(CONFIG, ''))
  }

  /** Changes the configuration of the ensemble: each server is `host:port:port;host:port`. */
  configure(servers: readonly string[]): void {
    const text = servers.map((server, index) => `server.${index + 1}=${server}\n`).join('')
    this.#try(() => this.#model.nodes.setData('/zookeeper/config', `${text}version=0`))
  }

  /** Expires a session as if its client had been silent. */
  expire(session: bigint): void {
    const isKnown = this.#model.leader !== undefined && this.#model.sessions.get(session) !== undefined
    if (!isKnown) return
    this.#recorder.add({ type: 'forced', paths: [], session })
    this.#model.sessions.expire(session)
  }

  /** Moves a session to another member. */
  move(session: bigint, to: string): void {
    const isKnown = this.#model.leader !== undefined && this.#model.sessions.get(session) !== undefined
    if (isKnown) this.#try(() => this.#model.sessions.move(session, to))
  }

  /** Deletes the node of the n-th oldest contender, modulo how many there are. */
  deleteNode(nth: number): void {
    const paths = this.contenders()
    if (paths.length === 0) return
    const path = paths[nth % paths.length]!
    this.#recorder.add({ type: 'forced', paths: [path], session: undefined })
    this.#try(() => this.#model.nodes.delete(path))
  }

  /** Deletes all contenders, and the node above them if none comes meanwhile. */
  deleteParent(): void {
    this.#recorder.add({ type: 'forced', paths: this.contenders(), session: undefined })
    this.#try(() => this.#model.nodes.delete(PATH))
  }

  /** Sets the counter, once: a counter that goes back would break the order of children. */
  presetCounter(to: number): void {
    if (this.#isPreset) return
    this.#isPreset = true
    this.#try(() => {
      const [counting] = this.#folders as [string]
      if (this.#model.nodes.get(counting) === undefined) this.#model.nodes.create(counting, { isContainer: true })
      this.#model.nodes.presetCounter(counting, to)
    })
  }

  /** The nodes of contenders at the leader, ordered by their counter. None if there is no leader. */
  contenders(): string[] {
    if (this.#model.leader === undefined) return []
    return this.#folders.flatMap((folder) => {
      const names = (this.#model.nodes.get(folder)?.children ?? []).filter((name) => !stays.includes(name))
      const counter = (name: string) => Number(name.slice(-10)) || 0
      return [...names].sort((one, other) => counter(one) - counter(other)).map((name) => `${folder}/${name}`)
    })
  }

  #try(action: () => void): void {
    if (this.#model.leader === undefined) return
    try {
      action()
    } catch {
      // Refused: the node is gone, or comes and goes; or the member does not follow.
    }
  }
}

// The program of a client that writes a tree and mirrors it, as a user would write it.
import { connect, KeeperError, op, type Runtime, type ZooKeeper } from '@zk/client'
import { Mirror, type MirrorChange, type MirroredNode } from '@zk/recipes'
import type { MirroredContent } from '../history/mirror.ts'
import type { Recorder } from '../history/recorder.ts'
import type { MirrorPlan, MirrorUse, TreeWrite } from '../scenario/mirror.ts'
import type { Participant } from './participant.ts'
import { PATH } from './paths.ts'
import { saslOption } from './sasl-user.ts'

export interface MirrorProgramOptions {
  readonly client: number
  readonly runtime: Runtime
  readonly connectString: string
  readonly sessionTimeout: number
  readonly usesSasl: true | undefined
  readonly plan: MirrorPlan
  readonly recorder: Recorder
}

/** A mirror that is open, and what its reader knows. */
export interface OpenMirror {
  readonly mirror: Mirror
  readonly depth: number | undefined
  readonly told: Map<string, MirroredContent>
}

export class MirrorProgram implements Participant {
  readonly seen = -1
  readonly #options: MirrorProgramOptions
  #zk: ZooKeeper | undefined
  readonly #open = new Map<number, OpenMirror>()
  readonly #reading: Promise<void>[] = []

  constructor(options: MirrorProgramOptions) {
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#zk?.session.connection !== undefined
  }

  updateServers(connectString: string): void {
    this.#zk?.updateServers(connectString)
  }

  get sessionId(): bigint {
    return this.#zk?.session.id ?? 0n
  }

  get open(): readonly OpenMirror[] {
    return [...this.#open.values()]
  }

  async connect(): Promise<void> {
    const { connectString, runtime, sessionTimeout, usesSasl } = this.#options
    this.#zk = await connect(connectString, { runtime, sessionTimeout, ...saslOption(usesSasl) })
  }

  begin(failed: (error: unknown) => void): readonly Promise<void>[] {
    const { lists, mirrors } = this.#options.plan
    return [...lists.map((writes) => this.#write(writes)), this.#mirror(mirrors, failed)]
  }

  askAll(): void {}

  /** Closes the mirrors. */
  async finish(): Promise<void> {
    for (const [id, { mirror }] of this.#open) await this.#close(id, mirror)
    await Promise.all(this.#reading)
  }

  async close(): Promise<void> {
    await this.#zk?.close()
  }

  // --- writes -----------------------------------------------------------------------------------------------------

  async #write(writes: readonly TreeWrite[]): Promise<void> {
    for (const [index, write] of writes.entries()) {
      await this.#pause(write.after)
      const written = this.#writeOnce(`${PATH}${write.path}`, write.how, String(index)).catch((error: unknown) => {
        // Others write the same nodes, and everything fails now and then.
        if (!KeeperError.is(error)) this.#unexpected('write', error)
      })
      if (write.waits) await written
    }
  }

  async #writeOnce(path: string, how: TreeWrite['how'], index: string): Promise<unknown> {
    const zk = this.#zk!
    const text = `${this.#options.client}.${index}`
    const chain = [path, `${path}/a`, `${path}/a/a`]
    switch (how) {
      case 'create':
        return await zk.create(path, text, { parents: true })
      case 'ephemeral':
        return await zk.create(path, text, { mode: 'EPHEMERAL' })
      case 'set':
        return await zk.setData(path, text)
      case 'delete':
        return await zk.delete(path)
      case 'again':
        return await zk.multi([op.delete(path), op.create(path, text)])
      case 'branch':
        return await zk.multi([op.create(path, text), op.create(`${path}/a`, text)])
      case 'chain':
        return await zk.multi(chain.map((each) => op.create(each, text)))
      case 'chainAgain': {
        const upwards = chain.toReversed()
        return await zk.multi([
          ...upwards.map((each) => op.delete(each)),
          ...chain.map((each) => op.create(each, text)),
        ])
      }
    }
  }

  // --- mirrors ----------------------------------------------------------------------------------------------------

  async #mirror(uses: readonly MirrorUse[], failed: (error: unknown) => void): Promise<void> {
    const { recorder, client } = this.#options
    for (const { after, depth, work, closesAfter } of uses) {
      await this.#pause(after)
      const id = recorder.newAttempt()
      const mirror = await Mirror.open(this.#zk!, PATH, { depth })
      const told = new Map<string, MirroredContent>()
      recorder.add({ type: 'opened', mirror: id, client, depth })
      this.#open.set(id, { mirror, depth, told })
      this.#reading.push(this.#read(id, mirror, told, work).catch(failed))
      if (closesAfter === undefined) return
      await this.#pause(closesAfter)
      await this.#close(id, mirror)
    }
  }

  async #read(id: number, mirror: Mirror, told: Map<string, MirroredContent>, work: number): Promise<void> {
    for await (const change of mirror.changes()) {
      if (change.type !== 'Ready') this.#told(id, change, told)
      this.#options.recorder.add({ type: 'shown', mirror: id, zxid: mirror.zxid, nodes: contentsOf(mirror) })
      if (work > 0) await this.#pause(work)
    }
  }

  #told(id: number, change: Exclude<MirrorChange, { type: 'Ready' }>, told: Map<string, MirroredContent>): void {
    const { path } = change
    const node = 'node' in change ? contentOf(change.node) : undefined
    const old = 'old' in change ? contentOf(change.old) : undefined
    this.#options.recorder.add({ type: 'mirrored', mirror: id, path, old, node })
    if (node === undefined) told.delete(path)
    else told.set(path, node)
  }

  async #close(id: number, mirror: Mirror): Promise<void> {
    this.#open.delete(id)
    this.#options.recorder.add({ type: 'mirrorClosed', mirror: id })
    await mirror.close()
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.runtime.setTimer(delay, resolve)
    })
  }

  #unexpected(what: string, error: unknown): void {
    this.#options.recorder.add({ type: 'unexpected', what: `${what}: ${String(error)}` })
  }
}

export function contentsOf(mirror: Mirror): MirroredContent[] {
  return Array.from(mirror.entries(), contentOf)
}

function contentOf({ path, stat: { czxid, mzxid }, text = '' }: MirroredNode): MirroredContent {
  return { path, czxid, mzxid, text }
}

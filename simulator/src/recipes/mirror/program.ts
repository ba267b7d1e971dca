// The program of a client that writes a tree and mirrors it, as a user would write it.
import { KeeperError, op } from '@zk/client'
import { Mirror, type MirrorChange, type MirroredNode, type OpenMirror } from '@zk/recipes'
import type { MirroredContent } from '../../history/mirror.ts'
import { Participant } from '../../play/participant.ts'
import { PATH } from '../../play/paths.ts'
import type { MirrorClient, MirrorUse, TreeWrite } from './plan.ts'

/** A mirror that is open, and what its reader knows. */
export interface FollowedMirror {
  readonly mirror: OpenMirror
  readonly depth: number | undefined
  readonly told: Map<string, MirroredContent>
}

export class MirrorProgram extends Participant<MirrorClient> {
  readonly #open = new Map<number, FollowedMirror>()
  readonly #reading: Promise<void>[] = []

  get open(): readonly FollowedMirror[] {
    return [...this.#open.values()]
  }

  override begin(failed: (error: unknown) => void): readonly Promise<void>[] {
    const { lists, mirrors } = this.plan.mirror
    return [...lists.map((writes) => this.#write(writes)), this.#mirror(mirrors, failed)]
  }

  /** Closes the mirrors. */
  override async finish(): Promise<void> {
    for (const [id, { mirror }] of this.#open) await this.#close(id, mirror)
    await Promise.all(this.#reading)
  }

  // --- writes -----------------------------------------------------------------------------------------------------

  async #write(writes: readonly TreeWrite[]): Promise<void> {
    for (const [index, write] of writes.entries()) {
      await this.pause(write.after)
      const written = this.#writeOnce(`${PATH}${write.path}`, write.how, String(index)).catch((error: unknown) => {
        // Others write the same nodes, and everything fails now and then.
        if (!KeeperError.is(error)) this.unexpected('write', error)
      })
      if (write.waits) await written
    }
  }

  async #writeOnce(path: string, how: TreeWrite['how'], index: string): Promise<unknown> {
    const zk = this.zk!
    const text = `${this.client}.${index}`
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
    const { recorder, client } = this
    for (const { after, depth, work, closesAfter } of uses) {
      await this.pause(after)
      const id = recorder.newAttempt()
      const mirror = await new Mirror(this.zk!, PATH, { depth }).open()
      const told = new Map<string, MirroredContent>()
      recorder.add({ type: 'opened', mirror: id, client, depth })
      this.#open.set(id, { mirror, depth, told })
      this.#reading.push(this.#read(id, mirror, told, work).catch(failed))
      if (closesAfter === undefined) return
      await this.pause(closesAfter)
      await this.#close(id, mirror)
    }
  }

  async #read(id: number, mirror: OpenMirror, told: Map<string, MirroredContent>, work: number): Promise<void> {
    for await (const change of mirror.watchChanges()) {
      if (change.type !== 'Ready') this.#told(id, change, told)
      this.recorder.add({ type: 'shown', mirror: id, zxid: mirror.zxid, nodes: contentsOf(mirror) })
      if (work > 0) await this.pause(work)
    }
  }

  #told(id: number, change: Exclude<MirrorChange, { type: 'Ready' }>, told: Map<string, MirroredContent>): void {
    const { path } = change
    const node = 'node' in change ? contentOf(change.node) : undefined
    const old = 'old' in change ? contentOf(change.old) : undefined
    this.recorder.add({ type: 'mirrored', mirror: id, path, old, node })
    if (node === undefined) told.delete(path)
    else told.set(path, node)
  }

  async #close(id: number, mirror: OpenMirror): Promise<void> {
    this.#open.delete(id)
    this.recorder.add({ type: 'mirrorClosed', mirror: id })
    await mirror.close()
  }
}

export function contentsOf(mirror: OpenMirror): MirroredContent[] {
  return Array.from(mirror.entries(), contentOf)
}

function contentOf({ path, stat: { czxid, mzxid }, text = '' }: MirroredNode): MirroredContent {
  return { path, czxid, mzxid, text }
}

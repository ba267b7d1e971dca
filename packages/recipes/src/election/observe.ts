// Which contender is first.
import type { CallOptions, Watched } from '@zk/client'
import { pause } from '@zk/client/internal'
import { ifMissing } from '../kernel/if-missing.ts'
import type { ContenderName } from '../queue/names.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'
import { retryAcrossSessions } from '../kernel/retry.ts'

export interface Observation {
  readonly leader: ContenderInfo | undefined
  /** A watch that fires when another contender may be first. */
  readonly watch: Watched
}

/** The oldest contender; undefined if there is none. */
export async function firstOf(queue: Queue, options: CallOptions): Promise<ContenderInfo | undefined> {
  for (;;) {
    const name = await oldestOf(queue, options)
    if (name === undefined) return undefined
    const info = await queue.read(name, options)
    if (info !== undefined) return elected(info)
  }
}

/** Marks the oldest candidate, an object that no other code has yet. */
function elected(oldest: ContenderInfo): ContenderInfo {
  return Object.assign(oldest, { isGranted: true })
}

/** The name of the oldest contender; undefined if there is none. */
async function oldestOf(queue: Queue, options: CallOptions): Promise<ContenderName | undefined> {
  for (;;) {
    const list = await ifMissing((asking) => queue.list(asking), options, undefined)
    const turn = () => pause(queue.zk.runtime, 0, options.signal)
    const names = (await list?.parsed(turn)) ?? []
    if (list === undefined || list.isInOrder) return names[0]
    const [oldest] = await queue.byCreation(names, options)
    if (oldest !== undefined) return oldest.contender
  }
}

/** Watches which contender is first. It is woken only if that may have changed, not by each contender that comes or goes. */
export async function observeFirst(queue: Queue, options: CallOptions): Promise<Observation> {
  const { zk } = queue
  const { signal } = options
  for (;;) {
    const first = await retryAcrossSessions(zk, () => oldestOf(queue, options), signal)
    const watching = () => (first === undefined ? watchEmpty(queue, options) : watchContender(queue, first, options))
    const observation = await retryAcrossSessions(zk, watching, signal)
    if (observation !== undefined) return observation
  }
}

/** Watches the node of this contender. The result is undefined if the node is gone. */
async function watchContender(
  queue: Queue,
  name: ContenderName,
  options: CallOptions,
): Promise<Observation | undefined> {
  const path = queue.pathOf(name.name)
  const read = await ifMissing((asking) => queue.zk.getDataAndWatch(path, asking), options, undefined)
  return read && { leader: elected(queue.info(name, read)), watch: read }
}

/** Watches an empty queue. The result is undefined if the queue is not empty after all. */
async function watchEmpty(queue: Queue, options: CallOptions): Promise<Observation | undefined> {
  const parent = await ifMissing((asking) => queue.zk.getChildrenAndWatch(queue.path, asking), options, undefined)
  const watch = parent ?? (await queue.zk.existsAndWatch(queue.path, options))
  const isEmpty =
    'children' in watch ? !watch.children.some((name) => queue.parse(name) !== undefined) : watch.stat === undefined
  if (isEmpty) return { leader: undefined, watch }
  await watch.unwatch()
  return undefined
}

// Watches which contender is first. It is woken only if that may have changed, not by each contender that comes or goes.
import type { CallOptions, Watched } from '@zk/client'
import { ifMissing } from '../calls/if-missing.ts'
import type { ContenderName } from './names.ts'
import type { ContenderInfo, Queue } from './queue.ts'
import { retryAcrossSessions } from '../calls/retry.ts'

export interface Observation {
  readonly leader: ContenderInfo | undefined
  /** A watch that fires when another contender may be first. */
  readonly watch: Watched
}

export async function observeFirst(queue: Queue, options: CallOptions): Promise<Observation> {
  const { zk } = queue
  const { signal } = options
  for (;;) {
    const first = await retryAcrossSessions(zk, () => queue.oldest(options), signal)
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
  return read && { leader: queue.info(name, read), watch: read }
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

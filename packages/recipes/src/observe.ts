// Watching who is first, without being woken by everybody who comes and goes.
import { type CallOptions, KeeperError, type Watched } from '@zk/client'
import type { ContenderName } from './names.ts'
import { type ContenderInfo, noneIfMissing, type Queue } from './queue.ts'
import { persistAcrossSessions } from './transient.ts'

export interface Observation {
  readonly leader: ContenderInfo | undefined
  /** Fires when somebody else may be first. */
  readonly watch: Watched
}

export async function observeFirst(queue: Queue, options: CallOptions): Promise<Observation> {
  const { zk } = queue
  for (;;) {
    const [first] = await persistAcrossSessions(zk, () => queue.list(options).catch(noneIfMissing))
    const watching = () => (first === undefined ? watchEmpty(queue, options) : watchContender(queue, first, options))
    const observation = await persistAcrossSessions(zk, watching)
    if (observation !== undefined) return observation
  }
}

/** undefined when it is gone. */
async function watchContender(
  queue: Queue,
  name: ContenderName,
  options: CallOptions,
): Promise<Observation | undefined> {
  const read = await queue.zk.getDataAndWatch(queue.pathOf(name.name), options).catch(undefinedIfGone)
  return read && { leader: queue.info(name, read), watch: read }
}

/** undefined when the queue is not empty after all. */
async function watchEmpty(queue: Queue, options: CallOptions): Promise<Observation | undefined> {
  const parent = await queue.zk.getChildrenAndWatch(queue.path, options).catch(undefinedIfGone)
  const watch = parent ?? (await queue.zk.existsAndWatch(queue.path, options))
  const isEmpty = 'children' in watch ? queue.inLine(watch.children).length === 0 : watch.stat === undefined
  if (isEmpty) return { leader: undefined, watch }
  await watch.unwatch()
  return undefined
}

function undefinedIfGone(error: unknown): undefined {
  if (!KeeperError.is(error, 'NoNode')) throw error
}

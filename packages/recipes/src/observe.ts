// Watching who is first, without being woken by everybody who comes and goes.
import { KeeperError, type Watched } from '@zk/client'
import type { ContenderName } from './names.ts'
import { type ContenderInfo, noneIfMissing, type Queue } from './queue.ts'
import { persist } from './transient.ts'

export interface Observation {
  readonly leader: ContenderInfo | undefined
  /** Fires when somebody else may be first. */
  readonly watch: Watched
}

export async function observeFirst(queue: Queue): Promise<Observation> {
  const { runtime } = queue.zk
  for (;;) {
    const [first] = await persist(runtime, () => queue.list({}).catch(noneIfMissing))
    const watching = () => (first === undefined ? watchEmpty(queue) : watchContender(queue, first))
    const observation = await persist(runtime, watching)
    if (observation !== undefined) return observation
  }
}

/** undefined when it is gone. */
async function watchContender(queue: Queue, name: ContenderName): Promise<Observation | undefined> {
  const read = await queue.zk.getDataAndWatch(queue.pathOf(name.name)).catch(undefinedIfGone)
  return read && { leader: queue.info(name, read), watch: read }
}

/** undefined when the queue is not empty after all. */
async function watchEmpty(queue: Queue): Promise<Observation | undefined> {
  const parent = await queue.zk.getChildrenAndWatch(queue.path).catch(undefinedIfGone)
  const watch = parent ?? (await queue.zk.existsAndWatch(queue.path))
  const isEmpty = 'children' in watch ? queue.inLine(watch.children).length === 0 : watch.stat === undefined
  if (isEmpty) return { leader: undefined, watch }
  await watch.unwatch()
  return undefined
}

function undefinedIfGone(error: unknown): undefined {
  if (!KeeperError.is(error, 'NoNode')) throw error
}

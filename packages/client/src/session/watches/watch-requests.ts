// What a request does to watches.
import { OpCode } from '@zk/wire'
import type { Request } from '../requests/request.ts'

export function setsWatches({ opCode }: Request): boolean {
  return opCode === OpCode.setWatches || opCode === OpCode.setWatches2
}

/** Whether a request may rely on a change of watches that was sent before it. */
export function reliesOn(request: Request, change: Request): boolean {
  if (setsWatches(request)) return true
  // Two removals have the same result in any order.
  const areRemovals = request.effect.type === 'remove' && change.effect.type === 'remove'
  return !areRemovals && watchedPath(request) === watchedPath(change)
}

export function changesWatches({ effect }: Request): boolean {
  return effect.type === 'addWatch' || effect.type === 'remove'
}

/** The path, as the server knows it, whose watches a request sets, changes or removes. */
function watchedPath({ effect }: Request): string | undefined {
  if (effect.type === 'watch') return effect.watcher.path
  return effect.type === 'addWatch' || effect.type === 'remove' ? effect.path : undefined
}

import type { RequestMessage } from '@zk/wire'

/** The paths in a request: those of all its parts, if it has parts. */
export function pathsOf({ op, request }: RequestMessage): readonly string[] {
  // A body that could not be read has no paths.
  if (request === undefined) return []
  if (op === 'multi' || op === 'multiRead') return request.map((part) => part.request.path ?? '')
  if (op === 'setWatches' || op === 'setWatches2') {
    const lists = Object.values(request).filter((list) => Array.isArray(list))
    return lists.flat().map((path) => path ?? '')
  }
  return 'path' in request ? [request.path ?? ''] : []
}

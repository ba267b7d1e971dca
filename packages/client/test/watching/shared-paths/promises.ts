// What the client promises to watchers: checked when all is quiet.
import { parentOf } from '@zk/wire'
import type { NodeEvent } from '../../../src/index.ts'
import type { Calls, Loop, OneShot } from './calls.ts'
import type { Change, Nodes } from './nodes.ts'

/** Events that were not delivered. */
export function* untold({ oneShots, loops }: Calls, nodes: Nodes): Generator<string> {
  for (const oneShot of oneShots) yield* untoldOnce(oneShot, nodes)
  for (const loop of loops) yield* untoldForGood(loop, nodes)
}

/** A one-shot watch that still stands has seen its node as it is. */
function* untoldOnce({ id, reading, path, seen, isNotified }: OneShot, nodes: Nodes): Generator<string> {
  const node = nodes.get(path)
  const now = reading === 'child' ? node?.pzxid : node?.mzxid
  if (!isNotified && now !== seen) yield `${id}, which has seen ${path} @${seen}, gets no event: it is @${now}`
}

/** A persistent one was notified of each change, or that there is a gap, and of nothing else. It ends by what the user does alone. */
function* untoldForGood({ id, error, isOver, ...loop }: Loop, { log }: Nodes): Generator<string> {
  if (error !== undefined) yield `${id} was ended with ${(error as Error).message}`
  const named = ({ type, path }: NodeEvent, zxid: bigint | undefined) => `${type} ${path} @${zxid}`
  const due = new Set(log.flatMap((change) => [...eventsFor(change, loop)].map((event) => named(event, change.zxid))))
  for (const event of loop.notified) {
    const name = named(event, event.zxid)
    if (!due.delete(name)) yield `${id} gets ${name}, which is not due, or comes twice`
  }
  if (isOver) return
  const since = loop.gaps.reduce((latest, zxid) => (zxid > latest ? zxid : latest), loop.since)
  for (const change of log.filter(({ zxid }) => zxid > since)) {
    for (const { type, path } of eventsFor(change, loop)) {
      const isNotified = loop.notified.some(
        (event) => event.type === type && event.path === path && event.zxid === change.zxid,
      )
      if (!isNotified) yield `${id} does not get ${type} ${path} @${change.zxid}`
    }
  }
}

function* eventsFor({ type, path }: Change, watch: Pick<Loop, 'path' | 'isRecursive'>): Generator<NodeEvent> {
  const isBelow = watch.isRecursive && path.startsWith(`${watch.path}/`)
  if (path === watch.path || isBelow) yield { type, path }
  const isOfChildren = type !== 'NodeDataChanged' && parentOf(path) === watch.path
  if (isOfChildren && !watch.isRecursive) yield { type: 'NodeChildrenChanged', path: watch.path }
}

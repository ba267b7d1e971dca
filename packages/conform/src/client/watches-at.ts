// Which watches a session has left on the server, as far as its frames show.
import { ErrorCode, EventType } from '@zk/wire'
import type { LoggedConnection } from './client-log.ts'

export type WatchKind = 'data' | 'exists' | 'children'
export type PersistentKind = 'persistent' | 'recursive'

export interface LeftWatches {
  readonly oneShot: readonly {
    readonly kind: WatchKind
    readonly path: string
    /** Whether the client knows of it and wants it: it has the reply of the read, and no event may be under way. */
    readonly isSure: boolean
  }[]
  readonly persistent: readonly { readonly kind: PersistentKind; readonly path: string }[]
  /** Watches whose events have arrived, and which were not set again. */
  readonly fired: readonly { readonly kind: WatchKind; readonly path: string }[]
}

/** What is left after these connections of a session. */
export function watchesAt(connections: readonly LoggedConnection[]): LeftWatches {
  const oneShot = new Map<string, { kind: WatchKind; path: string; isSure: boolean }>()
  const persistent = new Map<string, PersistentKind>()
  const fired = new Map<string, { kind: WatchKind; path: string }>()
  for (const { frames } of connections) {
    const asked = new Map<number, { readonly op: string; readonly path: string; readonly mode: number }>()
    for (const frame of frames) {
      if (frame.type === 'request') {
        const { op, xid, request } = frame.message
        const { path, watch, mode = 0 } = (request ?? {}) as { path?: string | null; watch?: boolean; mode?: number }
        const isWatch = watch === true || op === 'addWatch' || op === 'removeWatches' || op === 'checkWatches'
        if (op !== undefined && typeof path === 'string' && isWatch) asked.set(xid, { op, path, mode })
      } else if (frame.type === 'reply') {
        const { xid, err } = frame.message
        const request = asked.get(xid)
        asked.delete(xid)
        if (request === undefined) continue
        const { op, path, mode } = request
        if (op === 'removeWatches') {
          // Which of them the client still wants is not known.
          for (const kind of ['data', 'exists', 'children']) oneShot.delete(`${kind} ${path}`)
          persistent.delete(path)
        } else if (op === 'addWatch') {
          if (err === ErrorCode.Ok && frame.arrival === 'yes')
            persistent.set(path, mode === 0 ? 'persistent' : 'recursive')
        } else if (frame.arrival !== 'no') {
          const kind = kindOf(op, err)
          if (kind === undefined) continue
          oneShot.set(`${kind} ${path}`, { kind, path, isSure: frame.arrival === 'yes' })
          fired.delete(`${kind} ${path}`)
        }
      } else {
        const { type, path } = frame.message.event
        for (const kind of firedBy(type)) {
          const key = `${kind} ${path}`
          if (!oneShot.has(key) || path === null) continue
          if (frame.arrival === 'yes') {
            oneShot.delete(key)
            fired.set(key, { kind, path })
          } else oneShot.set(key, { kind, path, isSure: false })
        }
      }
    }
  }
  return {
    // A persistent watch of the path covers its one-shot watches: a client may leave them out.
    oneShot: [...oneShot.values()].filter(({ path }) => !isCovered(path, persistent)),
    persistent: [...persistent].map(([path, kind]) => ({ path, kind })),
    fired: [...fired.values()],
  }
}

function kindOf(op: string, err: number): WatchKind | undefined {
  if (op === 'exists') return err === ErrorCode.Ok ? 'data' : err === ErrorCode.NoNode ? 'exists' : undefined
  if (err !== ErrorCode.Ok) return undefined
  if (op === 'getData') return 'data'
  return op === 'getChildren' || op === 'getChildren2' ? 'children' : undefined
}

function firedBy(type: number): readonly WatchKind[] {
  if (type === EventType.NodeCreated || type === EventType.NodeDataChanged) return ['data', 'exists']
  if (type === EventType.NodeChildrenChanged) return ['children']
  return type === EventType.NodeDeleted ? ['data', 'exists', 'children'] : []
}

function isCovered(path: string, persistent: ReadonlyMap<string, PersistentKind>): boolean {
  return [...persistent].some(
    ([root, kind]) => path === root || (kind === 'recursive' && path.startsWith(root === '/' ? '/' : `${root}/`)),
  )
}

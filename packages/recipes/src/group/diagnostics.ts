// The messages of memberships. They have a file of their own, so that a program that uses only locks does not load them.
import { channel } from 'node:diagnostics_channel'
import { KeeperError, type LogLevel, type ZooKeeper } from '@zk/client'
import { hex, logWith, publish } from '@zk/client/internal'

/** The diagnostics channels of groups, by name, with their messages. */
export interface GroupMessages {
  /**
   * A membership of this client. `present`: its node was created, for the first time or again. `absent`: its session expired or
   * its node was deleted, and it is created again. `left`: it has left. `lost`: it has ended in any other way, with its `error`.
   * `orphan`: it has left, but has no right to delete its node; the delete is repeated each second.
   */
  readonly 'zk:member': {
    /** The path of the group. */
    readonly path: string
    /** The path of the member's node. */
    readonly node: string
    /** What happened. */
    readonly event: 'present' | 'absent' | 'left' | 'lost' | 'orphan'
    /** The session that owns the node, while it is present. */
    readonly sessionId?: bigint | undefined
    /** Why it is absent, or has ended. */
    readonly error?: unknown
  }
  /** The node of a service's instance that cannot be read: not Curator's JSON, or `NoAuth`. Reported once for each content. */
  readonly 'zk:unreadable': { readonly path: string; readonly node: string; readonly error: unknown }
}

const channels = { 'zk:member': channel('zk:member'), 'zk:unreadable': channel('zk:unreadable') }

const lines = {
  present: ['info', 'member present'],
  absent: ['warn', 'member absent: its node is created again'],
  left: ['info', 'member left'],
  lost: ['error', 'member lost'],
  orphan: ['error', 'member has left a node that cannot be deleted'],
} as const satisfies Record<GroupMessages['zk:member']['event'], readonly [LogLevel, string]>

/** The line for `lost` if this client was closed, which is not a reason for an alert. */
const closed = ['info', 'member left: its client was closed'] as const

function isOfClose({ event, error }: GroupMessages['zk:member']): boolean {
  return event === 'lost' && error instanceof Error && KeeperError.is(error.cause, 'Closed')
}

export function reportMember(zk: ZooKeeper, message: GroupMessages['zk:member']): void {
  if (channels['zk:member'].hasSubscribers) publish(channels['zk:member'], message)
  const [level, text] = isOfClose(message) ? closed : lines[message.event]
  logWith(zk, level, text, () => {
    const { path, node, sessionId, error } = message
    return {
      path,
      node,
      ...(sessionId !== undefined && { session: hex(sessionId) }),
      ...(error !== undefined && { err: error }),
    }
  })
}

export function reportUnreadable(zk: ZooKeeper, message: GroupMessages['zk:unreadable']): void {
  if (channels['zk:unreadable'].hasSubscribers) publish(channels['zk:unreadable'], message)
  logWith(zk, 'warn', 'instance cannot be read', () => ({ path: message.path, node: message.node, err: message.error }))
}

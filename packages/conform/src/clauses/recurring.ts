// What several clauses use.
import { type ACL, Perms } from '@zk/wire'
import type { ReleaseDifference } from './clause.ts'

/** Everybody has these permissions. */
function anyone(perms: number): readonly ACL[] {
  return [{ perms, id: { scheme: 'world', id: 'anyone' } }]
}

/** Everybody has every permission except READ. */
export const unreadable = anyone(Perms.ALL - Perms.READ)

/** Without the fix of CVE-2024-23944 (3.8.4, 3.9.2), an event is also sent to a session that may not read the node. */
export function unfiltered(expect: readonly string[]): readonly ReleaseDifference[] {
  const what = 'The server sends the event although the session may not read the node (CVE-2024-23944).'
  return [
    { what, before: '3.8', expect },
    // Debian has the fix in its 3.8.0.
    { what, since: ['3.8.1'], before: '3.8.4', expect },
    { what, since: ['3.9.0'], before: '3.9.2', expect },
  ]
}

/** Before 3.9, a session has at most one mode on a path and in a table of watches (ZOOKEEPER-4466). */
export function oneMode(what: string, expect: readonly string[]): readonly ReleaseDifference[] {
  return [{ what: `${what} (ZOOKEEPER-4466).`, before: '3.9', expect }]
}

// Differences that occur in several scenarios, but only at places that the scenario knows.
import type { Difference } from './difference.ts'

/** For a scenario that deletes these missing nodes, whose parents the session may not change. */
export function missingBeforeForbidden(paths: readonly string[]): Difference {
  return {
    what: 'delete of a missing node fails with NoNode, also for a session that may delete nothing below its parent.',
    why: 'PrepRequestProcessor looks up the node before it checks the rights. From 3.6 on it checks the rights first, so the error does not show which nodes exist.',
    before: '3.6',
    line: (line) => (paths.some((path) => line.includes(`delete { path: "${path}"`)) ? noNodeForNoAuth(line) : line),
  }
}

/** Also replaces it in the results of a multi. */
function noNodeForNoAuth(line: string): string {
  return line.replace(/(.* -> .*)\bNoAuth\b/, '$1NoNode')
}

export const inTheOrderOfAuth: Difference = {
  what: 'After two `addAuth`, an ACL of the scheme `auth` lists the two identities in the order in which they were added.',
  why: 'ServerCnxn keeps identities in a list; later releases keep them in a Java set, which has another order.',
  before: '3.6',
  line: (line) => line.replace(/("digest":"[^"]*" \d+), ("digest":"[^"]*" \d+)/, '$2, $1'),
}

/** For a scenario in which a session watches nodes that it may not read. `events`: the further lines after a line. */
export function sentWithoutPermission(events: Readonly<Record<string, readonly string[]>>): Difference {
  return {
    what: 'A session receives events of a node that it may not read.',
    why: 'CVE-2024-23944, fixed in 3.8.4 and 3.9.2, and by Debian in its 3.8.0.',
    before: '3.8',
    line: (line) => [line, ...(events[line] ?? [])],
  }
}

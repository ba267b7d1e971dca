// Differences that show in several scenarios, at places that only these know.
import type { Difference } from './difference.ts'

/** For a scenario that deletes such nodes, which are not there, below parents that forbid it. */
export function missingBeforeForbidden(paths: readonly string[]): Difference {
  return {
    what: 'delete of a node that is not there says NoNode, also to who may delete nothing below its parent.',
    why: 'PrepRequestProcessor looks for the node before it looks at the rights. From 3.6 on nobody learns so what there is.',
    before: '3.6',
    line: (line) => (paths.some((path) => line.includes(`delete { path: "${path}"`)) ? noNodeForNoAuth(line) : line),
  }
}

/** In a multi too. */
function noNodeForNoAuth(line: string): string {
  return line.replace(/(.* -> .*)\bNoAuth\b/, '$1NoNode')
}

export const inTheOrderOfAuth: Difference = {
  what: 'Who has shown two identities finds them in an ACL in the order in which they were shown.',
  why: 'ServerCnxn keeps them in a list, later ones in a set of Java, which has an order of its own.',
  before: '3.6',
  line: (line) => line.replace(/("digest":"[^"]*" \d+), ("digest":"[^"]*" \d+)/, '$2, $1'),
}

/** For a scenario with watches of who may not read. The events that come too, by the line before them. */
export function toldToAnybody(events: Readonly<Record<string, readonly string[]>>): Difference {
  return {
    what: 'An event comes also to who may not read the node.',
    why: 'CVE-2024-23944, mended in 3.8.4 and 3.9.2, and by Debian in its 3.8.0.',
    before: '3.8',
    line: (line) => [line, ...(events[line] ?? [])],
  }
}

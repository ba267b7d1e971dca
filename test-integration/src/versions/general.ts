// Differences that may show in any scenario. What concerns one scenario stands beside it.
import type { Difference } from './difference.ts'

export const generalDifferences: readonly Difference[] = [
  {
    what: 'A list of ACLs that is null is a MarshallingError, for a multi as a whole.',
    why: 'PrepRequestProcessor.fixupACL looks into the list before it looks whether there is one; later ones say InvalidACL. No client of ours sends null.',
    before: '3.6',
    line: (line) =>
      line
        .replace(/^(\w+: (?:create\w*|setACL) \{.*acl: null.* -> )InvalidACL/, '$1MarshallingError')
        .replace(/^(\w+: multi .*acl: null.* -> )Ok (z\d+).*$/, '$1MarshallingError $2'),
  },
  {
    what: '`conf` does not tell of clientPortListenBacklog.',
    why: 'The setting came with 3.6.0.',
    before: '3.6',
    line: (line) => (line.includes(' clientPortListenBacklog=') ? [] : line),
  },
  {
    what: 'An event comes under the zxid of what happened, not under -1.',
    why: 'WatchedEvent knows it from 3.9.0 on, and NIOServerCnxn.process sends it. Our client needs none.',
    since: ['3.9.0'],
    theirs: (line) => line.replace(/(: event .* state \d) z(?:\d+|\?)$/, '$1 -1'),
  },
  {
    what: 'exists needs the right to read the node, and its watch too: NoAuth.',
    why: 'ZOOKEEPER-2590, because a Stat tells something. Up to then everybody could ask whether there is a node.',
    since: ['3.8.4', '3.9.2'],
    line: (line, index, phase) => {
      const [, who, path, zxid] = /^(\w+): exists \{ path: ("[^"]*"), .* -> Ok (z\d+) /.exec(line) ?? []
      const isUnreadable = phase
        .slice(Math.max(0, index - 4), index + 2)
        .some((near) => near.startsWith(`${who}: getData { path: ${path}, `) && near.includes('-> NoAuth '))
      return isUnreadable ? line.replace(/ -> Ok .*/, ` -> NoAuth ${zxid}`) : line
    },
  },
  {
    what: 'A create2 in a multi is answered with the Stat.',
    why: 'ZOOKEEPER-4026. Before, the answer was that of create, of which clients have to make do.',
    since: ['3.7.2', '3.8.2', '3.9.0'],
    theirs: (line) => {
      const at = line.indexOf('] -> Ok ')
      if (!/: multi \[.*\bcreate2 \{/.test(line.slice(0, Math.max(0, at)))) return line
      const answer = line.slice(at).replaceAll(/create2 \{ path: ("[^"]*"), stat: [^{}]*\}/g, 'create { path: $1 }')
      return line.slice(0, at) + answer
    },
  },
]

// Differences that may occur in any scenario. A difference of one scenario is in the file of that scenario.
import type { Difference } from './difference.ts'

export const generalDifferences: readonly Difference[] = [
  {
    what: 'A null list of ACLs is a MarshallingError; in a multi, of the multi as a whole.',
    why: 'PrepRequestProcessor.fixupACL uses the list before it checks for null; later releases answer InvalidACL. Our client never sends null.',
    before: '3.6',
    line: (line) =>
      line
        .replace(/^(\w+: (?:create\w*|setACL) \{.*acl: null.* -> )InvalidACL/, '$1MarshallingError')
        .replace(/^(\w+: multi .*acl: null.* -> )Ok (z\d+).*$/, '$1MarshallingError $2'),
  },
  {
    what: '`conf` does not list clientPortListenBacklog.',
    why: 'The setting came with 3.6.0.',
    before: '3.6',
    line: (line) => (line.includes(' clientPortListenBacklog=') ? [] : line),
  },
  {
    what: 'The header of an event has the zxid of the transaction, not -1.',
    why: 'WatchedEvent has it from 3.9.0 on, and NIOServerCnxn.process sends it. Our client does not need it.',
    since: ['3.9.0'],
    theirs: (line) => line.replace(/(: event .* state \d) z(?:\d+|\?)$/, '$1 -1'),
  },
  {
    what: 'exists fails with NoAuth, and sets no watch, when the session may not read the node.',
    why: 'ZOOKEEPER-2590, because a Stat is information about the node. Before, every session could check whether a node exists.',
    since: ['3.8.4', '3.9.2'],
    line: (line, index, phase) => {
      const [, connection, path, zxid] = /^(\w+): exists \{ path: ("[^"]*"), .* -> Ok (z\d+) /.exec(line) ?? []
      const isUnreadable = phase
        .slice(Math.max(0, index - 4), index + 2)
        .some((near) => near.startsWith(`${connection}: getData { path: ${path}, `) && near.includes('-> NoAuth '))
      return isUnreadable ? line.replace(/ -> Ok .*/, ` -> NoAuth ${zxid}`) : line
    },
  },
  {
    what: 'The result of a create2 in a multi contains the Stat.',
    why: 'ZOOKEEPER-4026. Before, the result was that of create, without a Stat.',
    since: ['3.7.2', '3.8.2', '3.9.0'],
    theirs: (line) => {
      const at = line.indexOf('] -> Ok ')
      if (!/: multi \[.*\bcreate2 \{/.test(line.slice(0, Math.max(0, at)))) return line
      const answer = line.slice(at).replaceAll(/create2 \{ path: ("[^"]*"), stat: [^{}]*\}/g, 'create { path: $1 }')
      return line.slice(0, at) + answer
    },
  },
]

import type { BrokenServer } from './broken-server.ts'

/** For the chapters multi and multi-read. */
export const transactions: readonly BrokenServer[] = [
  {
    clause: 'multi/2',
    does: 'applies the parts before the one that fails',
    replace: `const done = failed && txn.type !== 'error' ? refused(err) : txn`,
    with: `const done = failed && err !== 0 && txn.type !== 'error' ? refused(err) : txn`,
  },
  {
    clause: 'multi/5',
    does: 'answers the results in the reverse order',
    replace: `response: results.map(`,
    with: `response: results.toReversed().map(`,
  },
  {
    clause: 'multi/15',
    does: 'answers -2 for the parts before the one that failed',
    replace: `if (err === 0) err = result.err`,
    with: `if (failed) err = -2`,
  },
  {
    clause: 'multi/16',
    does: 'answers Ok for the parts after the one that failed',
    replace: `txns.push(refuse(ErrorCode.RuntimeInconsistency))`,
    with: `txns.push(refuse(ErrorCode.Ok))`,
  },
  {
    clause: 'multi/24',
    does: 'lets everyone check the version of a node',
    replace: `if (!allowed(node.acl, Perms.READ, authInfo)) return refuse(ErrorCode.NoAuth)`,
    with: '',
  },
  {
    clause: 'multi/25',
    does: 'counts a check as a change of the data',
    replace: `case 'check': return { txn, err: 0, path: txn.path }`,
    with: `case 'check': {
      const node = this.#nodes.get(txn.path)
      if (node !== undefined) node.version++
      return { txn, err: 0, path: txn.path }
    }`,
  },
  {
    clause: 'multi/31',
    does: 'leaves reads in a multi out',
    replace: `if (!parts.every((part) => isReadable(part, release))) return refuse(ErrorCode.MarshallingError)`,
    with: `parts = parts.filter((part) => part.type !== 4 && part.type !== 8)
  if (!parts.every((part) => isReadable(part, release))) return refuse(ErrorCode.MarshallingError)`,
  },
  {
    clause: 'multi-read/3',
    does: 'fails as a whole if a part fails',
    replace: `if (err !== ErrorCode.Ok) return { type: OpCode.error, response: { err } }`,
    with: `if (err !== ErrorCode.Ok) return undefined`,
  },
]

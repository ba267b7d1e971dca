import type { BrokenServer } from './broken-server.ts'

/** For the chapters auth, acl, who-am-i, quota and reconfig. */
export const rights: readonly BrokenServer[] = [
  {
    clause: 'auth/2',
    does: 'answers an auth packet with the zxid of the last transaction',
    replace: `this.#reply(message, 0n, proved.err, rule, proved.response)`,
    with: `this.#reply(message, this.#zxid, proved.err, rule, proved.response)`,
    also: ['sasl/1'],
  },
  {
    clause: 'auth/6',
    does: 'keeps only the identity of the last auth packet',
    replace: `this.ids = addAuthInfo(this.ids, ids, this.#release)`,
    with: `this.ids = addAuthInfo(firstAuthInfo(this.#address), ids, this.#release)`,
  },
  {
    clause: 'auth/9',
    does: 'keeps the connection when an auth packet has failed',
    replace: `this.end('authentication failed')`,
    with: '',
  },
  {
    clause: 'auth/15',
    does: 'refuses the scheme ip',
    replace: `if (packet.scheme === 'ip') return firstAuthInfo(address)`,
    with: `if (packet.scheme === 'ip') return undefined`,
  },
  {
    clause: 'acl/6',
    does: 'lets everyone delete a child',
    replace: `if (!allowed(parent.acl, Perms.DELETE, authInfo)) return refuse(ErrorCode.NoAuth)`,
    with: '',
  },
  {
    clause: 'acl/8',
    does: 'lets everyone set an ACL',
    replace: `if (!allowed(node.acl, Perms.ADMIN, authInfo)) return refuse(ErrorCode.NoAuth)`,
    with: '',
  },
  {
    clause: 'acl/9',
    does: 'shows an ACL only to those who may read the node',
    replace: `Perms.READ | Perms.ADMIN, (node)`,
    with: `Perms.READ, (node)`,
  },
  {
    clause: 'acl/10',
    does: 'lets the first entry of an ACL decide',
    replace: `if ((granted & perms) === 0) continue`,
    with: `if ((granted & perms) === 0) return false`,
  },
  {
    clause: 'acl/13',
    does: 'compares only whole bytes of an address',
    replace: 'return (byte ^ range.address[index]!) >>> (8 - bits) === 0',
    with: 'return bits < 8 || byte === range.address[index]',
  },
  {
    clause: 'acl/15',
    does: 'accepts the scheme auth from a session without an identity',
    replace: `if (own.length === 0) return ErrorCode.InvalidACL`,
    with: '',
  },
  {
    clause: 'acl/16',
    does: 'has no superuser',
    replace: `for (const { scheme } of ids) if (scheme === 'super') return true`,
    with: '',
  },
  {
    clause: 'acl/18',
    does: 'cuts unknown bits off',
    replace: `fixed.push(entry)`,
    with: `fixed.push({ ...entry, perms: entry.perms & 31 })`,
  },
  {
    clause: 'acl/28',
    does: 'keeps equal entries',
    replace: `if (isNew) unique.push(entry)`,
    with: `void isNew
    unique.push(entry)`,
  },
  {
    clause: 'acl/31',
    does: 'shows digests to everyone who may read the node',
    replace: `node.acl.map(withoutHash)`,
    with: `node.acl`,
  },
  {
    clause: 'acl/32',
    does: 'adds the entries of setACL to those that were there',
    replace: `node.acl = acl node.aversion = version`,
    with: `node.acl = [...node.acl, ...acl]
        node.aversion = version`,
  },
  {
    clause: 'who-am-i/2',
    does: 'shows the digest of a user',
    replace: `userName: (own) => own.split(':', 1)[0] ?? ''`,
    with: `userName: (own) => own`,
  },
  {
    clause: 'quota/4',
    does: 'counts the nodes whose path begins with the same characters',
    replace: 'if (other !== path && !other.startsWith(`${path}/`)) continue',
    with: 'if (!other.startsWith(path)) continue',
  },
  {
    clause: 'quota/6',
    does: 'counts what it has counted as a change of the data',
    replace: `if (node !== undefined && stats !== undefined) node.data = stats.plus(count, bytes).toBytes()`,
    with: `if (node !== undefined && stats !== undefined) {
      node.data = stats.plus(count, bytes).toBytes()
      node.version++
    }`,
  },
  {
    clause: 'quota/7',
    does: 'refuses what exceeds a soft limit',
    replace: `isTooMuch(limits.get('countHardLimit'), stats.get('count'), more.count) ||`,
    with: `isTooMuch(limits.get('countHardLimit'), stats.get('count'), more.count) ||
    isTooMuch(limits.get('count'), stats.get('count'), more.count) ||`,
  },
  {
    clause: 'quota/19',
    does: 'lets the uppermost quota count',
    replace: `for (let at = path; at !== '' && at !== '/'; at = parentOf(at)) if (this.#limited.has(at)) return at return undefined`,
    with: `let found: string | undefined
    for (let at = path; at !== '' && at !== '/'; at = parentOf(at)) if (this.#limited.has(at)) found = at
    return found`,
  },
  {
    clause: 'reconfig/1',
    does: 'lets everyone change the node with the configuration',
    replace: `const config = ancient(READ_ACL_UNSAFE)`,
    with: `const config = ancient(OPEN_ACL_UNSAFE)`,
  },
]

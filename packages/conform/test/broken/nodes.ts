// The chapters about paths, nodes and their Stats.
import type { BrokenServer } from './broken-server.ts'

export const nodes: readonly BrokenServer[] = [
  {
    clause: 'paths/4',
    does: 'takes a path without a slash for a child of the root',
    replace: `if (!hasParent(path)) return refuse(ErrorCode.BadArguments)
  const acl`,
    with: `if (path.includes('\\0')) return refuse(ErrorCode.BadArguments)
  if (!path.includes('/')) path = '/' + path
  const acl`,
    also: ['paths/17', 'create/16'],
  },
  {
    clause: 'paths/10',
    does: 'checks the names in the path of a create first',
    replace: `const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath`,
    with: `if (!mode.isSequential && !isValidPath(path)) return refuse(ErrorCode.BadArguments)
  const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath`,
  },
  {
    clause: 'paths/11',
    does: 'does not check the path of a setData',
    replace: `const { path, data } = asked
  if (!isValidPath(path)) return`,
    with: `const { path, data } = asked
  if (path === null) return`,
  },
  {
    clause: 'paths/13',
    does: 'checks the whole path of a delete',
    replace: `if (!hasParent(path) || isSpecialPath(path)) return refuse(ErrorCode.BadArguments)
  const parent = changes.get(parentOf(path))`,
    with: `if (!isValidPath(path) || isSpecialPath(path)) return refuse(ErrorCode.BadArguments)
  const parent = changes.get(parentOf(path))`,
  },
  {
    clause: 'paths/16',
    does: 'takes a path with U+0000 for that of a missing node in exists',
    replace: `if (path.includes('\\0')) return refused(ErrorCode.BadArguments)`,
    with: '',
  },
  {
    clause: 'create/2',
    does: 'answers create2 with the Stat of the parent',
    replace: 'const stat = toStat(node) this.quotas.created(',
    with: 'const stat = toStat(parent); this.quotas.created(',
    also: ['containers/1', 'ttl/1', 'stat/1', 'stat/3', 'stat/12', 'sync/5'],
  },
  {
    clause: 'create/4',
    does: 'stores null for empty data',
    replace: 'const node = new DataNode({ data, acl, zxid, time, ephemeralOwner })',
    with: 'const node = new DataNode({ data: data?.byteLength === 0 ? null : data, acl, zxid, time, ephemeralOwner })',
  },
  {
    clause: 'create/5',
    does: 'stores empty data for null in a multi',
    replace: "return { op: isContainer ? 'createContainer' : 'create', request }",
    with: "return { op: isContainer ? 'createContainer' : 'create', request: { ...request, data: request.data ?? new Uint8Array() } }",
  },
  {
    clause: 'create/9',
    does: 'takes the flags of a create for a bit mask',
    replace: 'const mode = modes.get(request.flags)',
    with: 'const mode = modes.get(request.flags) ?? modes.get(request.flags & 3)',
  },
  {
    clause: 'create/17',
    does: 'looks the parent up before it checks the ACL',
    replace: `const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath`,
    with: `if (changes.get(parentOf(path)) === undefined) return refuse(ErrorCode.NoNode)
  const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath`,
  },
  {
    clause: 'create/18',
    does: 'tells whether a node exists without permission to create it',
    replace: 'if (!allowed(parent.acl, Perms.CREATE, authInfo)) return refuse(ErrorCode.NoAuth)',
    with: `if (!mode.isSequential && changes.get(path) !== undefined) return refuse(ErrorCode.NodeExists)
  if (!allowed(parent.acl, Perms.CREATE, authInfo)) return refuse(ErrorCode.NoAuth)`,
  },
  {
    clause: 'delete/3',
    does: 'does not check the version of a delete',
    replace: `if (isOtherVersion(node.version, version)) return refuse(ErrorCode.BadVersion)
  if (node.childCount > 0)`,
    with: 'if (node.childCount > 0)',
  },
  {
    clause: 'delete/7',
    does: 'deletes nodes with children',
    replace: `if (node.childCount > 0) return refuse(ErrorCode.NotEmpty)
  return removed`,
    with: 'return removed',
  },
  {
    clause: 'delete/9',
    does: 'looks for children before it checks the version',
    replace: `if (isOtherVersion(node.version, version)) return refuse(ErrorCode.BadVersion)
  if (node.childCount > 0) return refuse(ErrorCode.NotEmpty)`,
    with: `if (node.childCount > 0) return refuse(ErrorCode.NotEmpty)
  if (isOtherVersion(node.version, version)) return refuse(ErrorCode.BadVersion)`,
  },
  {
    clause: 'delete/12',
    does: 'deletes built-in nodes',
    replace: 'SPECIAL.has(path)',
    with: 'false',
  },
  {
    clause: 'reads/6',
    does: 'answers getChildren with paths instead of names',
    replace: 'return { children: node.listChildren() }',
    with: 'return { children: node.listChildren().map((name) => `${path}/${name}`) }',
  },
  {
    clause: 'reads/12',
    does: 'also asks for the permission to read the parent',
    replace: 'if (!allowed(node.acl, perms, authInfo)) return refused(ErrorCode.NoAuth)',
    with: `const above = tree.get(path.slice(0, path.lastIndexOf('/')))
  if (!allowed(node.acl, perms, authInfo)) return refused(ErrorCode.NoAuth)
  if (above !== undefined && !allowed(above.acl, perms, authInfo)) return refused(ErrorCode.NoAuth)`,
  },
  {
    clause: 'reads/14',
    does: 'counts only children in getAllChildrenNumber',
    replace: 'read(tree, path, request, Perms.READ, (_, path) => ({ totalNumber: tree.countBelow(path) }))',
    with: 'read(tree, path, request, Perms.READ, (node) => ({ totalNumber: node.childCount }))',
  },
  {
    clause: 'reads/15',
    does: 'counts nodes whose path begins alike in getAllChildrenNumber',
    replace: 'if (other.startsWith(`${path}/`)) count++',
    with: 'if (other.startsWith(path) && other !== path) count++',
  },
  {
    clause: 'reads/18',
    does: 'answers getEphemerals with the nodes of all sessions',
    replace: 'const ephemerals = tree.ephemerals(sessionId).inOrder()',
    with: 'const ephemerals = [...tree.ephemeralOwners].flatMap((each) => (void sessionId, tree.ephemerals(each).inOrder()))',
  },
  {
    clause: 'reads/20',
    does: 'takes the prefix of getEphemerals for the path of a node',
    replace: 'path.startsWith(prefix))',
    with: "`${path}/`.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`))",
  },
  {
    clause: 'stat/3',
    does: 'does not move mzxid with setData',
    replace: 'node.mzxid = zxid',
    with: '',
  },
  {
    clause: 'stat/4',
    does: 'moves mzxid with setACL',
    replace: 'node.aversion = version return',
    with: 'node.aversion = version; node.mzxid = header.zxid; return',
  },
  {
    clause: 'stat/6',
    does: 'does not count a setData with as much data as before',
    replace: `const version = (node.version + 1) | 0
  changes.add(zxid, path, viewOf(node, { version, dataLength }))`,
    with: `const version = dataLength === node.dataLength ? node.version : (node.version + 1) | 0
  changes.add(zxid, path, viewOf(node, { version, dataLength }))`,
  },
  {
    clause: 'stat/7',
    does: 'does not move mtime with setData',
    replace: 'node.mtime = BigInt(time)',
    with: '',
  },
  {
    clause: 'stat/9',
    does: 'has no cversion',
    replace: 'cversion: (Math.imul(node.cversion, 2) - childCount) | 0',
    with: 'cversion: 0',
  },
  {
    clause: 'stat/10',
    does: 'does not move cversion with the delete of a child',
    replace: 'cversion: (Math.imul(node.cversion, 2) - childCount) | 0',
    with: 'cversion: node.cversion',
  },
  {
    clause: 'stat/11',
    does: 'does not move pzxid with the create of a child',
    replace: 'parent.pzxid = zxid }',
    with: '}',
  },
  {
    clause: 'stat/12',
    does: 'does not move pzxid with the delete of a child',
    replace: 'if (zxid > parent.pzxid) parent.pzxid = zxid',
    with: '',
  },
  {
    clause: 'stat/13',
    does: 'moves pzxid of the parent with setData',
    replace: 'node.mzxid = zxid',
    with: 'node.mzxid = zxid; const above = this.#nodes.get(parentOf(path)); if (above !== undefined) above.pzxid = zxid',
  },
  {
    clause: 'stat/14',
    does: 'does not move aversion with setACL',
    replace: 'node.aversion = version return',
    with: 'return',
  },
  {
    clause: 'stat/18',
    does: 'shows a dataLength of -1 for null data',
    replace: 'dataLength: node.dataLength, numChildren',
    with: 'dataLength: node.data === null ? -1 : node.dataLength, numChildren',
  },
  {
    clause: 'stat/19',
    does: 'shows no numChildren',
    replace: 'numChildren: childCount',
    with: 'numChildren: 0',
  },
  {
    clause: 'set-data/3',
    does: 'does not check the version of a setData',
    replace: `if (isOtherVersion(node.version, asked.version)) return refuse(ErrorCode.BadVersion)
  const version = (node.version + 1) | 0`,
    with: 'const version = (node.version + 1) | 0',
  },
  {
    clause: 'set-data/5',
    does: 'takes every negative version for any version',
    replace: 'expected !== -1 && expected !== version',
    with: 'expected >= 0 && expected !== version',
    also: ['delete/5', 'acl/33'],
  },
  {
    clause: 'set-data/7',
    does: 'sets null for empty data',
    replace: 'node.data = data',
    with: 'node.data = data?.byteLength === 0 ? null : data',
  },
  {
    clause: 'sync/1',
    does: 'answers every sync with the root',
    replace: 'sync: ({ path }) => ({ err: 0, response: { path } })',
    with: "sync: () => ({ err: 0, response: { path: '/' } })",
  },
  {
    clause: 'sync/2',
    does: 'refuses the sync of a missing node',
    replace: 'sync: ({ path }) => ({ err: 0, response: { path } })',
    with: `sync: ({ path }, tree) =>
    tree.get(path ?? '') === undefined ? refused(ErrorCode.NoNode) : { err: 0, response: { path } }`,
  },
  {
    clause: 'sequential/1',
    does: 'writes numbers with nine digits',
    replace: "padStart(10, '0')",
    with: "padStart(9, '0')",
  },
  {
    clause: 'sequential/6',
    does: 'takes the number of existing children',
    replace: 'sequenceSuffix(parent.cversion)',
    with: 'sequenceSuffix(parent.childCount)',
  },
  {
    clause: 'sequential/7',
    does: 'uses up a number for a create whose ACL is invalid',
    replace: `const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath`,
    with: `const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') {
    const above = changes.get(parentOf(path))
    if (mode.isSequential && above !== undefined) Object.assign(above, { cversion: above.cversion + 1 })
    return refuse(acl)
  }
  const parentPath`,
  },
  {
    clause: 'sequential/13',
    does: 'checks the path of a sequential create without the number',
    replace: 'if (mode.isSequential) path +=',
    with: 'if (!isValidPath(path)) return refuse(ErrorCode.BadArguments); if (mode.isSequential) path +=',
  },
  {
    clause: 'sequential/15',
    does: 'skips numbers that are taken',
    replace: 'if (mode.isSequential) path += sequenceSuffix(parent.cversion)',
    with: `if (mode.isSequential) {
    let number = parent.cversion
    while (changes.get(path + sequenceSuffix(number)) !== undefined) number++
    path += sequenceSuffix(number)
  }`,
  },
  {
    clause: 'ephemeral/5',
    does: 'lets ephemeral nodes have children',
    replace: 'if (isEphemeral(parent)) return refuse(ErrorCode.NoChildrenForEphemerals)',
    with: '',
  },
  {
    clause: 'ephemeral/8',
    does: 'deletes at the end of a session what was created again under the name of its ephemeral node',
    replace: 'else if (node.ephemeralOwner !== 0n) this.#ephemerals.get(node.ephemeralOwner)?.delete(path)',
    with: '',
  },
  {
    clause: 'ephemeral/12',
    also: ['watches/36', 'watches/37'],
    does: 'fires no watches at the end of a session',
    replace: 'this.#delete(path, zxid) left?.delete(path)',
    with: `const above = this.#nodes.get(parentOf(path))
      above?.removeChild(nameIn(path))
      if (above !== undefined) above.pzxid = zxid
      this.#nodes.delete(path)
      left?.delete(path)`,
  },
  {
    clause: 'containers/2',
    does: 'shows the mark of a container or of a TTL as the owner of the node',
    replace: 'isSession(node.ephemeralOwner) ? node.ephemeralOwner : 0n',
    with: 'node.ephemeralOwner',
    also: ['ttl/3'],
  },
  {
    clause: 'containers/6',
    does: 'never deletes containers',
    replace: 'if (node !== undefined && node.childCount === 0 && node.cversion > 0) yield path',
    with: '',
  },
  {
    clause: 'containers/10',
    does: 'deletes containers that never had a child',
    replace: 'node.childCount === 0 && node.cversion > 0',
    with: 'node.childCount === 0',
  },
  {
    clause: 'containers/14',
    does: 'makes a container of every create with flags 4',
    replace: "op.op === 'createContainer' ?",
    with: "op.op === 'createContainer' || mode.isContainer ?",
  },
  {
    clause: 'ttl/4',
    does: 'lets a TTL be longer than 40 bits',
    replace: 'ttl > 0n && ttl <= LONGEST_TTL',
    with: 'ttl > 0n',
  },
  {
    clause: 'ttl/5',
    does: 'ignores the TTL of a createTTL whose flags have none',
    replace: 'return request.ttl >= 0n ? ErrorCode.BadArguments : ErrorCode.Unimplemented',
    with: 'return mode',
  },
  {
    clause: 'ttl/10',
    does: 'never deletes nodes whose TTL is over',
    replace: 'if (ttl !== 0n && now - node.mtime > ttl) yield path',
    with: 'void [ttl, now]',
  },
  {
    clause: 'ttl/11',
    does: 'deletes nodes before their TTL is over',
    replace: 'now - node.mtime > ttl',
    with: 'now - node.mtime > 100n',
  },
  {
    clause: 'ttl/12',
    does: 'counts the TTL from the creation of the node',
    replace: 'now - node.mtime > ttl',
    with: 'now - node.ctime > ttl',
  },
  {
    clause: 'ttl/13',
    does: 'never deletes a node with a TTL that had a child',
    replace: 'if (node === undefined || node.childCount > 0) continue',
    with: 'if (node === undefined || node.cversion > 0) continue',
  },
]

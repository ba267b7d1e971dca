import type { BrokenServer } from './broken-server.ts'

const CREATED = "this.dataWatches.trigger(path, 'NodeCreated', zxid, acl)"
const CHANGED = "this.dataWatches.trigger(path, 'NodeDataChanged', zxid, node.acl)"
const DELETED = "const notified = this.dataWatches.trigger(path, 'NodeDeleted', zxid, node.acl)"
const DELETED_FOR_CHILD_WATCHES = "this.childWatches.trigger(path, 'NodeDeleted', zxid, node.acl, notified)"
const OF_PARENT =
  "this.childWatches.trigger(parentPath === '' ? '/' : parentPath, 'NodeChildrenChanged', zxid, parent.acl)"
const FIRED = 'if ((modes & WatchMode.standard) !== 0) this.#unset(paths, at, watcher, WatchMode.standard)'
const NOTIFY = 'watcher.event(type, path, tellsZxidOfEvents ? zxid : -1n)'
const SEND_EVENT = "this.#send({ type: 'event', zxid, err: 0, event }, rule)"
const SET_BY_EXISTS = 'if (watch && connection) tree.dataWatches.add(path, connection)'
const SET_BY_GET_DATA = 'if (watch && request.connection) tree.dataWatches.add(path, request.connection)'
const ADD_WATCH = 'setPersistentWatch(tree, path, watcher, added)'
const REMOVE_WATCHES = 'const removed = parts.filter(([watches, modes]) => watches.remove(path, watcher, modes))'

export const watches: readonly BrokenServer[] = [
  { clause: 'watches/1', does: 'fires no watch on a change of data', replace: CHANGED, with: '' },
  {
    clause: 'watches/2',
    does: 'fires no data watch on deletion',
    replace: DELETED,
    with: 'const notified = undefined',
  },
  { clause: 'watches/3', does: 'fires no watch of a missing node', replace: CREATED, with: '' },
  {
    clause: 'watches/3',
    does: 'sets no watch by an exists that fails',
    replace: SET_BY_EXISTS,
    with: 'if (watch && connection && tree.get(path)) tree.dataWatches.add(path, connection)',
  },
  {
    clause: 'watches/4',
    does: 'sets no watch below a missing parent',
    replace: SET_BY_EXISTS,
    with: "if (watch && connection && tree.get(path.slice(0, path.lastIndexOf('/')))) tree.dataWatches.add(path, connection)",
  },
  {
    clause: 'watches/5',
    does: 'sets watches by exists only if the node is missing',
    replace: SET_BY_EXISTS,
    with: 'if (watch && connection && !tree.get(path)) tree.dataWatches.add(path, connection)',
  },
  { clause: 'watches/6', does: 'tells no new children', replace: `${CREATED} ${OF_PARENT}`, with: CREATED },
  {
    clause: 'watches/6',
    does: 'tells new children with their own path',
    replace: `${CREATED} ${OF_PARENT}`,
    with: `${CREATED}
      for (const each of this.childWatches.trigger(parentPath === '' ? '/' : parentPath, 'NodeChildrenChanged', zxid, [{ perms: 0, id: { scheme: 'world', id: 'anyone' } }]) ?? []) each.event('NodeChildrenChanged', path, zxid)`,
  },
  {
    clause: 'watches/7',
    does: 'tells no lost children',
    replace: `${DELETED_FOR_CHILD_WATCHES} ${OF_PARENT}`,
    with: DELETED_FOR_CHILD_WATCHES,
  },
  {
    clause: 'watches/8',
    does: 'fires no child watch when the node is deleted',
    replace: DELETED_FOR_CHILD_WATCHES,
    with: '',
  },
  {
    clause: 'watches/9',
    does: 'sets no watch by getChildren2',
    replace: `if (watch && request.connection) tree.childWatches.add(path, request.connection)
      return { children: node.listChildren(), stat`,
    with: 'return { children: node.listChildren(), stat',
  },
  {
    clause: 'watches/10',
    does: 'fires data watches of the parent of a new node',
    replace: CREATED,
    with: `${CREATED}; this.dataWatches.trigger(parentPath, 'NodeDataChanged', zxid, acl)`,
  },
  {
    clause: 'watches/11',
    does: 'fires child watches on a change of data',
    replace: CHANGED,
    with: `${CHANGED}; this.childWatches.trigger(path, 'NodeDataChanged', zxid, node.acl)`,
  },
  {
    clause: 'watches/11',
    does: 'fires child watches of the parent of the parent',
    replace: CREATED,
    with: `${CREATED}; this.childWatches.trigger(parentOf(parentPath), 'NodeChildrenChanged', zxid, acl)`,
  },
  {
    clause: 'watches/12',
    does: 'fires watches when an ACL changes',
    replace: 'node.aversion = version',
    with: "node.aversion = version; this.dataWatches.trigger(path, 'NodeDataChanged', header.zxid, acl)",
  },
  {
    clause: 'watches/13',
    does: 'fires no watch when the data stays the same',
    replace: 'const bytes = (data?.byteLength ?? 0) - node.dataLength',
    with: `const bytes = (data?.byteLength ?? 0) - node.dataLength
      if (String(data) === String(node.data)) this.dataWatches.trigger = () => undefined`,
  },
  {
    clause: 'watches/14',
    does: 'fires no watch of a missing node for a container',
    replace: CREATED,
    with: `if (kind !== 'container') ${CREATED}`,
  },
  { clause: 'watches/15', does: 'keeps watches that have fired', replace: FIRED, with: '' },
  {
    clause: 'watches/16',
    does: 'sets watches by any getData',
    replace: SET_BY_GET_DATA,
    with: 'if (request.connection) tree.dataWatches.add(path, request.connection)',
  },
  {
    clause: 'watches/16',
    does: 'removes a watch by a getData without one',
    replace: SET_BY_GET_DATA,
    with: `${SET_BY_GET_DATA}; else if (request.connection) tree.dataWatches.remove(path, request.connection)`,
  },
  {
    clause: 'watches/18',
    does: 'removes the child watch when the data watch fires',
    replace: CHANGED,
    with: `for (const each of ${CHANGED} ?? []) this.childWatches.remove(path, each, 1)`,
  },
  {
    clause: 'watches/19',
    does: 'tells a deletion twice',
    replace: DELETED_FOR_CHILD_WATCHES,
    with: "this.childWatches.trigger(path, 'NodeDeleted', zxid, node.acl)",
  },
  {
    clause: 'watches/20',
    does: 'keeps a child watch whose deletion a data watch has told',
    replace: DELETED_FOR_CHILD_WATCHES,
    with: `if (notified === undefined) ${DELETED_FOR_CHILD_WATCHES}`,
  },
  {
    clause: 'watches/21',
    does: 'sets a watch by a getData that fails',
    replace: 'if (node === undefined) return refused(ErrorCode.NoNode) if (!allowed(node.acl, perms, authInfo))',
    with: `if (node === undefined) {
        try { respond(undefined as never, path) } catch {}
        return refused(ErrorCode.NoNode)
      }
      if (!allowed(node.acl, perms, authInfo))`,
  },
  {
    clause: 'watches/23',
    does: 'sends an event to one session only',
    replace: 'for (const watcher of notified) {',
    with: 'for (const watcher of [...notified].slice(0, 1)) {',
  },
  {
    clause: 'watches/24',
    does: 'removes the watches of all sessions with those of one',
    replace: 'for (const path of paths?.keys() ?? []) this.#unset(paths!, path, watcher, ALL)',
    with: `for (const path of [...(paths?.keys() ?? [])]) {
        for (const each of [...(this.#byPath.get(path) ?? [])]) this.#unset(this.#byWatcher.get(each)!, path, each, ALL)
      }`,
  },
  {
    clause: 'watches/26',
    does: 'sends events after the reply to the change',
    replace: SEND_EVENT,
    with: `queueMicrotask(() => ${SEND_EVENT})`,
  },
  {
    clause: 'watches/29',
    does: 'tells new children before the new node',
    replace: `${CREATED} ${OF_PARENT}`,
    with: `${OF_PARENT}; ${CREATED}`,
  },
  {
    clause: 'watches/30',
    does: 'sends events with another state',
    replace: 'state: KeeperState.SyncConnected',
    with: 'state: 0',
  },
  {
    clause: 'watches/32',
    does: 'applies a multi from its end',
    replace: 'for (const txn of txns) { const done',
    with: 'for (const txn of failed ? txns : txns.toReversed()) { const done',
  },
  {
    clause: 'watches/34',
    does: 'fires watches for a multi that fails',
    replace: "const done = failed && txn.type !== 'error' ? refused(err) : txn",
    with: `const done = failed && txn.type !== 'error' ? refused(err) : txn
      if (failed && txn.type === 'setData') this.dataWatches.trigger(txn.path, 'NodeDataChanged', header.zxid, [])`,
  },
  {
    clause: 'watches/35',
    does: 'sets watches by a multiRead',
    replace: 'const asked = { path, watch: false }',
    with: 'const asked = { path, watch: true }',
  },
  {
    clause: 'watches/36',
    also: ['watches/37', 'ephemeral/12'],
    does: 'tells nobody of the deletion of ephemeral nodes',
    replace: 'for (const path of txn.paths) { this.#delete(path, zxid)',
    with: `for (const path of txn.paths) {
        const tables = [this.dataWatches, this.childWatches]
        for (const table of tables) table.trigger = () => undefined
        this.#delete(path, zxid)
        for (const table of tables) delete (table as Partial<WatchManager>).trigger`,
  },
  {
    clause: 'watches/38',
    does: 'sets a watch by a read that is not allowed',
    replace: 'if (!allowed(node.acl, perms, authInfo)) return refused(ErrorCode.NoAuth)',
    with: 'if (!allowed(node.acl, perms, authInfo)) return (respond(node, path), refused(ErrorCode.NoAuth))',
  },
  {
    clause: 'watches/39',
    does: 'sets a watch by an exists that is refused',
    replace: 'if (tree.release.hidesStats && node !== undefined',
    with: `if (tree.release.hidesStats && watch && connection) tree.dataWatches.add(path, connection)
    if (tree.release.hidesStats && node !== undefined`,
  },
  {
    clause: 'watches/41',
    does: 'keeps a watch whose event is withheld',
    replace: FIRED,
    with: `if (allowed(acl, Perms.READ, watcher.authInfo)) ${FIRED}`,
  },
  {
    clause: 'watches/44',
    does: 'withholds new children from those who may not read them',
    replace: `${CREATED} ${OF_PARENT}`,
    with: `${CREATED}; this.childWatches.trigger(parentPath === '' ? '/' : parentPath, 'NodeChildrenChanged', zxid, acl)`,
  },
  {
    clause: 'persistent-watches/1',
    does: 'answers addWatch without its four bytes',
    replace: 'const bytes = encodeMessage(message)',
    with: `const whole = encodeMessage(message)
      const isShort = message.type === 'reply' && message.op === 'addWatch' && message.err === 0
      const bytes = isShort ? whole.slice(0, -4) : whole
      if (isShort) bytes[3] = 16`,
  },
  {
    clause: 'persistent-watches/2',
    does: 'removes a persistent watch that has fired',
    replace: FIRED,
    with: 'if ((modes & 3) !== 0) this.#unset(paths, at, watcher, 3)',
  },
  {
    clause: 'persistent-watches/3',
    does: 'tells persistent watches nothing of children',
    replace:
      "if (tree.watchModes === 'one' || mode !== WatchMode.recursive) tree.childWatches.add(path, watcher, mode)",
    with: '',
  },
  {
    clause: 'persistent-watches/5',
    does: 'accepts addWatch only if there is a node',
    replace: ADD_WATCH,
    with: `if (tree.get(path) === undefined) return ErrorCode.NoNode; ${ADD_WATCH}`,
  },
  {
    clause: 'persistent-watches/6',
    does: 'removes persistent watches with their node',
    replace: FIRED,
    with: `${FIRED}; if (type === 'NodeDeleted') this.#unset(paths, at, watcher, WatchMode.persistent)`,
  },
  {
    clause: 'persistent-watches/7',
    does: 'tells at once that a watched node exists',
    replace: ADD_WATCH,
    with: `${ADD_WATCH}; if (tree.get(path)) watcher.event('NodeCreated', path, -1n)`,
  },
  {
    clause: 'persistent-watches/8',
    does: 'sends recursive events with the path of the watch',
    replace: NOTIFY,
    with: 'watcher.event(type, [...upFrom(path)].find((at) => this.has(at, watcher)) ?? path, zxid)',
  },
  {
    clause: 'persistent-watches/9',
    does: 'fires a recursive watch only for nodes below its own',
    replace: 'if (isRecursive || (modes & ~WatchMode.recursive) !== 0) notified.add(watcher)',
    with: 'if ((modes & ~WatchMode.recursive) !== 0) notified.add(watcher)',
  },
  {
    clause: 'persistent-watches/10',
    also: ['remove-watches/23'],
    does: 'tells recursive watches that children have changed',
    replace:
      "if (tree.watchModes === 'one' || mode !== WatchMode.recursive) tree.childWatches.add(path, watcher, mode)",
    with: 'tree.childWatches.add(path, watcher, mode === WatchMode.recursive ? WatchMode.persistent : mode)',
  },
  {
    clause: 'persistent-watches/11',
    does: 'compares paths by their first characters',
    replace: 'for (const at of this.#recursive === 0 ? [path] : upFrom(path)) {',
    with: `for (const at of this.#recursive === 0 ? [path] : [...this.#byPath.keys()].filter((each) => path.startsWith(each))) {`,
  },
  {
    clause: 'persistent-watches/12',
    does: 'removes a recursive watch with its node',
    replace: FIRED,
    with: `${FIRED}; if (type === 'NodeDeleted') this.#unset(paths, at, watcher, 4)`,
  },
  {
    clause: 'persistent-watches/13',
    does: 'leaves out the number of a sequential node',
    replace: CREATED,
    with: "this.dataWatches.trigger(path.replace(/\\d{10}$/, ''), 'NodeCreated', zxid, acl)",
  },
  {
    clause: 'persistent-watches/14',
    does: 'sends an event for each recursive watch above',
    replace: 'if (isRecursive) notified.add(watcher) continue',
    with: 'if (isRecursive && notified.has(watcher)) watcher.event(type, path, zxid); if (isRecursive) notified.add(watcher); continue',
  },
  {
    clause: 'persistent-watches/20',
    does: 'takes any mode for one of the two',
    replace: 'const added = modes.get(mode)',
    with: 'const added = modes.get(mode & 1)',
  },
  {
    clause: 'persistent-watches/22',
    does: 'demands READ for addWatch',
    replace: 'const err = addWatch(tree, asked, connection ?? noWatcher)',
    with: `const node = tree.get(asked.path!)
      if (node && !allowed(node.acl, Perms.READ, connection!.authInfo)) return refused(ErrorCode.NoAuth)
      const err = addWatch(tree, asked, connection ?? noWatcher)`,
  },
  {
    clause: 'persistent-watches/24',
    does: 'removes a persistent watch whose event is withheld',
    replace: FIRED,
    with: `${FIRED}; else if (!allowed(acl, Perms.READ, watcher.authInfo)) this.#unset(paths, at, watcher, 3)`,
  },
  {
    clause: 'persistent-watches/26',
    does: 'forgets the recursive watches of all sessions when a connection ends',
    replace: 'for (const path of paths?.keys() ?? []) this.#unset(paths!, path, watcher, ALL)',
    with: `for (const path of paths?.keys() ?? []) this.#unset(paths!, path, watcher, ALL)
    this.#recursive = 0`,
  },
  {
    clause: 'remove-watches/1',
    does: 'removes no data watches',
    replace: REMOVE_WATCHES,
    with: 'const removed = parts.filter(([each, modes]) => each === tree.dataWatches ? each.has(path, watcher, modes) : each.remove(path, watcher, modes))',
  },
  {
    clause: 'remove-watches/2',
    does: 'removes no child watches',
    replace: REMOVE_WATCHES,
    with: 'const removed = parts.filter(([each, modes]) => each === tree.childWatches ? each.has(path, watcher, modes) : each.remove(path, watcher, modes))',
  },
  {
    clause: 'remove-watches/3',
    does: 'removes only one of the two watches of a path',
    replace: REMOVE_WATCHES,
    with: 'const removed = parts.slice(0, 1).filter(([watches, modes]) => watches.remove(path, watcher, modes))',
  },
  {
    clause: 'remove-watches/5',
    does: 'removes watches of all types',
    replace: 'if (path === null) return ErrorCode.NoWatcher',
    with: `if (path === null) return ErrorCode.NoWatcher
      if (type < 3) return removeWatch(tree, { path, type: 3 }, watcher)`,
  },
  {
    clause: 'remove-watches/6',
    does: 'never answers NoWatcher to removeWatches',
    replace: 'return removed.length > 0 ? ErrorCode.Ok : ErrorCode.NoWatcher',
    with: 'return ErrorCode.Ok',
  },
  {
    clause: 'remove-watches/8',
    does: 'sends DataWatchRemoved',
    replace: 'return removed.length > 0 ? ErrorCode.Ok : ErrorCode.NoWatcher',
    with: `if (removed.length > 0) watcher.event('DataWatchRemoved', path, -1n)
      return removed.length > 0 ? ErrorCode.Ok : ErrorCode.NoWatcher`,
  },
  {
    clause: 'remove-watches/11',
    does: 'removes a watch that checkWatches has found',
    replace: 'return isSet ? ErrorCode.Ok : ErrorCode.NoWatcher',
    with: `if (isSet) for (const [watches, modes] of parts) watches.remove(path, watcher, modes)
      return isSet ? ErrorCode.Ok : ErrorCode.NoWatcher`,
  },
  {
    clause: 'set-watches/1',
    does: 'does not set data watches again',
    replace:
      "else if (node.mzxid > relativeZxid) send('NodeDataChanged', path, node) else tree.dataWatches.add(path, watcher)",
    with: "else if (node.mzxid > relativeZxid) send('NodeDataChanged', path, node)",
  },
  {
    clause: 'set-watches/2',
    does: 'does not tell a missed change of data',
    replace: "else if (node.mzxid > relativeZxid) send('NodeDataChanged', path, node)",
    with: '',
  },
  {
    clause: 'set-watches/3',
    does: 'does not tell a missed deletion to data watches',
    replace: "if (node === undefined) watcher.event('NodeDeleted', path, -1n) else if (node.mzxid",
    with: 'if (node === undefined) tree.dataWatches.add(path, watcher); else if (node.mzxid',
  },
  {
    clause: 'set-watches/5',
    does: 'tells data watches of missed changes of children',
    replace: 'node.mzxid > relativeZxid',
    with: '(node.mzxid > relativeZxid || node.pzxid > relativeZxid)',
  },
  {
    clause: 'set-watches/6',
    does: 'does not set watches of missing nodes again',
    replace: 'if (node === undefined) tree.dataWatches.add(path, watcher) else send',
    with: 'if (node !== undefined) send',
  },
  {
    clause: 'set-watches/7',
    does: 'does not tell a missed creation',
    replace: "else send('NodeCreated', path, node)",
    with: 'else tree.dataWatches.add(path, watcher)',
  },
  {
    clause: 'set-watches/9',
    does: 'tells a creation only if it was missed',
    replace: "else send('NodeCreated', path, node)",
    with: "else if (node.czxid > relativeZxid) send('NodeCreated', path, node)",
  },
  {
    clause: 'set-watches/10',
    does: 'does not set child watches again',
    replace: 'else tree.childWatches.add(path, watcher) } const { persistentWatches',
    with: '} const { persistentWatches',
  },
  {
    clause: 'set-watches/11',
    does: 'does not tell missed changes of children',
    replace: "else if (node.pzxid > relativeZxid) send('NodeChildrenChanged', path, node)",
    with: '',
  },
  {
    clause: 'set-watches/12',
    does: 'does not tell that the last child is gone',
    replace: 'else if (node.pzxid > relativeZxid)',
    with: 'else if (node.pzxid > relativeZxid && node.childCount > 0)',
  },
  {
    clause: 'set-watches/14',
    does: 'does not tell a missed deletion to child watches',
    replace: "if (node === undefined) watcher.event('NodeDeleted', path, -1n) else if (node.pzxid",
    with: 'if (node === undefined) continue; else if (node.pzxid',
  },
  {
    clause: 'set-watches/16',
    does: 'tells child watches of missed changes of data',
    replace: 'node.pzxid > relativeZxid',
    with: '(node.pzxid > relativeZxid || node.mzxid > relativeZxid)',
  },
  {
    clause: 'set-watches/17',
    does: 'sets a watch whose change it has told',
    replace: "else if (node.mzxid > relativeZxid) send('NodeDataChanged', path, node)",
    with: "else if (node.mzxid > relativeZxid) (send('NodeDataChanged', path, node), tree.dataWatches.add(path, watcher))",
  },
  {
    clause: 'set-watches/18',
    does: 'sets child watches for good',
    replace: 'else tree.childWatches.add(path, watcher) } const { persistentWatches',
    with: 'else tree.childWatches.add(path, watcher, WatchMode.persistent) } const { persistentWatches',
  },
  {
    clause: 'set-watches/19',
    does: 'takes the last change that was seen for a missed one',
    replace: 'node.mzxid > relativeZxid',
    with: 'node.mzxid >= relativeZxid',
  },
  {
    clause: 'set-watches/24',
    does: 'answers setWatches with a body',
    replace: 'const bytes = encodeMessage(message)',
    with: `const hasBody = message.type === 'reply' && message.op === 'setWatches' && message.xid === -8
      const bytes = encodeMessage(hasBody ? { ...message, rest: new Uint8Array(4) } : message)`,
  },
  {
    clause: 'set-watches2/2',
    does: 'sets one-shot watches for the list of persistent ones',
    replace: 'setPersistentWatch(tree, path, watcher, WatchMode.persistent)',
    with: 'setPersistentWatch(tree, path, watcher, WatchMode.standard)',
  },
  {
    clause: 'set-watches2/3',
    does: 'sets persistent watches for the list of recursive ones',
    replace: 'setPersistentWatch(tree, path, watcher, WatchMode.recursive)',
    with: 'setPersistentWatch(tree, path, watcher, WatchMode.persistent)',
  },
  {
    clause: 'set-watches2/4',
    does: 'tells persistent watches that a node is missing',
    replace: 'setPersistentWatch(tree, path, watcher, WatchMode.persistent)',
    with: `if (tree.get(path) === undefined) watcher.event('NodeDeleted', path, -1n)
      setPersistentWatch(tree, path, watcher, WatchMode.persistent)`,
  },
  {
    clause: 'set-watches2/5',
    does: 'sets persistent watches on existing nodes only',
    replace: 'setPersistentWatch(tree, path, watcher, WatchMode.persistent)',
    with: 'if (tree.get(path) !== undefined) setPersistentWatch(tree, path, watcher, WatchMode.persistent)',
  },
]

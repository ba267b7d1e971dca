// What a write would change, or why it is refused: the checks in the order of server/PrepRequestProcessor.java.
import { CreateMode, type CreateRequest, type Id, type MultiOp, OpCode, Perms, type TypeOf } from '@zk/wire'
import { check, expand } from './acl.ts'
import { Refusal } from './refusal.ts'
import { type Change, type Node, parentOf, type Tree } from './tree.ts'

/** Whose write it is. */
export interface Author {
  readonly session: bigint
  readonly identities: readonly Id[]
}

/** undefined for an operation that changes nothing. */
export function prepare(tree: Tree, { type, request }: MultiOp, author: Author): Change | undefined {
  const path = request.path ?? ''
  switch (type) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
      return creation(tree, request, author)
    case OpCode.delete: {
      check(existing(tree, parentOf(path)).acl, Perms.DELETE, author.identities)
      const node = existing(tree, path)
      checkVersion(node, request.version)
      if (node.children.size > 0) throw new Refusal('NotEmpty')
      return { type: 'deleted', path }
    }
    case OpCode.setData: {
      const node = existing(tree, path)
      check(node.acl, Perms.WRITE, author.identities)
      checkVersion(node, request.version)
      return { type: 'dataChanged', path, data: request.data ?? new Uint8Array(0) }
    }
    case OpCode.check: {
      const node = existing(tree, path)
      check(node.acl, Perms.READ, author.identities)
      checkVersion(node, request.version)
      return undefined
    }
    case OpCode.createTTL:
    case OpCode.getData:
    case OpCode.getChildren:
      throw new Refusal('Unimplemented')
  }
}

function creation(tree: Tree, request: TypeOf<typeof CreateRequest>, { session, identities }: Author): Change {
  const { path: asked, data, acl, flags } = request
  const path = asked ?? ''
  const expanded = expand(acl ?? [], identities)
  const parent = existing(tree, parentOf(path))
  check(parent.acl, Perms.CREATE, identities)
  const isSequential = flags === CreateMode.PERSISTENT_SEQUENTIAL || flags === CreateMode.EPHEMERAL_SEQUENTIAL
  const named = isSequential ? path + String(parent.counter).padStart(10, '0') : path
  if (tree.get(named) !== undefined) throw new Refusal('NodeExists')
  if (parent.ephemeralOwner !== 0n) throw new Refusal('NoChildrenForEphemerals')
  const isEphemeral = flags === CreateMode.EPHEMERAL || flags === CreateMode.EPHEMERAL_SEQUENTIAL
  return {
    type: 'created',
    path: named,
    data: data ?? new Uint8Array(0),
    acl: expanded,
    ephemeralOwner: isEphemeral ? session : 0n,
    isContainer: flags === CreateMode.CONTAINER,
  }
}

function existing(tree: Tree, path: string): Node {
  const node = tree.get(path)
  if (node === undefined) throw new Refusal('NoNode')
  return node
}

function checkVersion({ version }: Node, expected: number): void {
  if (expected !== -1 && expected !== version) throw new Refusal('BadVersion')
}

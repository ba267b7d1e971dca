import { type ACL, ErrorCode, errorName, Perms, type Stat, validatePath } from '@zk/wire'
import { checkKeys, show } from '../connection/fault.ts'
import type { DataTree } from '../database/index.ts'
import { toStat } from '../database/index.ts'
import type { Ensemble, OperatorChange } from '../ensemble/index.ts'
import type { Control } from './control.ts'
import { inJson } from './in-json.ts'

/** A node as one member knows it. */
export interface TestNode {
  /** A copy of the data; empty if the node has none. */
  readonly data: Uint8Array
  /** The `Stat` of the node. */
  readonly stat: Stat
  /** The ACL: the rights, and their owners. */
  readonly acl: readonly ACL[]
  /** The names of its children, sorted. */
  readonly children: readonly string[]
}

/** How `nodes.create` creates a node. */
export interface CreateNodeOptions {
  /** The data; text is encoded as UTF-8. @default none */
  data?: Uint8Array | string | undefined
  /** The ACL. @default all rights for everyone */
  acl?: readonly ACL[] | undefined
  /** Whether servers delete it when its children are gone. @default false */
  isContainer?: boolean | undefined
}

const OPEN_ACL: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]
const LARGEST_INT = 2 ** 31 - 1

/** The node in the tree of one server; undefined if there is none. */
export function readNode(tree: DataTree, path: string): TestNode | undefined {
  validatePath(path)
  const node = tree.get(path)
  if (node === undefined) return undefined
  const { data, acl, children } = node
  return { data: (data ?? new Uint8Array()).slice(), stat: inJson(toStat(node)), acl, children: [...children].sort() }
}

/**
 * The nodes as an operator sees and changes them: on the leader, without a session, and with all rights.
 *
 * A change is committed like any write: before the method returns if `latency` is 0, otherwise later. If the leader has lost
 * its quorum, or is frozen, the change waits, and is lost if another leader is elected: wait for `TestEnsemble.serving`
 * first. A method throws an `Error` that says why if the change is refused, or if no leader serves.
 */
export class TestNodes {
  readonly #ensemble: Ensemble
  readonly #control: Control

  /** @internal */
  constructor(ensemble: Ensemble, control: Control) {
    this.#ensemble = ensemble
    this.#control = control
  }

  /** The node on the leader; undefined if there is none. */
  get(path: string): TestNode | undefined {
    return readNode(this.#tree, path)
  }

  /** The paths of the ephemeral nodes of a session, or of all sessions. */
  ephemerals(session?: bigint): readonly string[] {
    if (session !== undefined && typeof session !== 'bigint') {
      throw new TypeError(`a session's id is a bigint, not ${show(session)}`)
    }
    const tree = this.#tree
    const owners = session === undefined ? [...tree.ephemeralOwners] : [session]
    return owners.flatMap((owner) => [...tree.ephemerals(owner).inOrder()]).sort()
  }

  /** Creates the node and its missing parents. */
  create(path: string, options: CreateNodeOptions = {}): void {
    checkKeys('nodes.create', options, ['data', 'acl', 'isContainer'])
    const { data = '', acl = OPEN_ACL, isContainer = false } = options
    validatePath(path)
    checkData('nodes.create', data)
    for (const parent of parentsOf(path)) if (this.#tree.get(parent) === undefined) this.#create(parent, '', OPEN_ACL)
    this.#create(path, data, acl, isContainer)
  }

  /** Replaces the data, whatever its version; text is encoded as UTF-8. Throws an `Error` if there is no such node. */
  setData(path: string, data: Uint8Array | string): void {
    checkData('nodes.setData', data)
    this.#operate(path, { op: 'setData', request: { path, data: bytesOf(data), version: -1 } })
  }

  /** Deletes the node and all nodes below it. */
  delete(path: string): void {
    if (path === '/') throw new RangeError('nodes.delete: the root cannot be deleted')
    for (const child of this.get(path)?.children ?? []) this.delete(`${path}/${child}`)
    this.#operate(path, { op: 'delete', request: { path, version: -1 } })
  }

  /** Sets the counter: the next sequential child of this node gets this number. */
  presetCounter(path: string, counter: number): void {
    if (!Number.isInteger(counter) || counter < 0 || counter > LARGEST_INT) {
      throw new RangeError(`a counter is an integer from 0 to ${LARGEST_INT}, not ${counter}`)
    }
    if (this.get(path) === undefined) throw new Error(`presetCounter ${path}: NoNode`)
    this.#operate(path, { op: 'presetCounter', path, counter })
  }

  get #tree(): DataTree {
    const { leader } = this.#ensemble
    if (leader === undefined) throw new Error('no member leads; wait for `serving` first')
    return leader.tree
  }

  #create(path: string, data: Uint8Array | string, acl: readonly ACL[], isContainer = false): void {
    const request = { path, data: bytesOf(data), acl, flags: isContainer ? 4 : 0 }
    this.#operate(path, { op: isContainer ? 'createContainer' : 'create', request })
  }

  #operate(path: string, change: OperatorChange): void {
    validatePath(path)
    let refusal: string | undefined
    this.#control(`nodes.${change.op}(${path})`, () => {
      this.#ensemble.operate(change, (result) => {
        if (result.type === 'lost') refusal = 'no member leads'
        else if (result.err !== ErrorCode.Ok) refusal = errorName(result.err) ?? `error ${result.err}`
      })
    })
    if (refusal !== undefined) throw new Error(`${change.op} ${path}: ${refusal}`)
  }
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1)
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
}

function checkData(what: string, data: unknown): void {
  if (typeof data === 'string' || isBytes(data)) return
  throw new TypeError(`${what}: data must be a Uint8Array or a string, not ${show(data)}`)
}

/** Accepts bytes from another realm, too: test runners run tests in a realm of their own. */
function isBytes(data: unknown): boolean {
  return ArrayBuffer.isView(data) && Object.prototype.toString.call(data) === '[object Uint8Array]'
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data.slice()
}

import type { WaitOptions, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import { checkMirror, checkOpen } from './checks.ts'
import { OpenMirror } from './open-mirror.ts'

const MAX_NODES = 1_000_000
const MAX_BYTES = 256 * 1024 * 1024

/** What is mirrored, and its limits. */
export interface MirrorOptions {
  /** How many levels below the node are mirrored; 0 for only the node. @default all */
  depth?: number | undefined
  /**
   * Whether the node of this path, and what is below it, is mirrored. It is called once each time a node appears, except for the
   * top node, and must always return the same result for a path. If it throws, the mirror ends with that error. @default all
   */
  filter?: ((path: string) => boolean) | undefined
  /** The maximum number of nodes, at least 1. One more ends the mirror with `MirrorTooLarge`. @default 1_000_000 */
  maxNodes?: number | undefined
  /**
   * The maximum number of bytes of data plus characters of names, at least 1. One more ends the mirror with a
   * `MirrorTooLarge`. @default 256 MiB
   */
  maxBytes?: number | undefined
}

/**
 * A live copy of a node and of all nodes below it, in the memory of this program.
 *
 *     await using mirror = await new Mirror(zk, '/config').open()
 *     mirror.get('/config/limits')?.text
 *     for await (const change of mirror.watchChanges()) { … }
 *
 * It follows the servers across lost connections and expired sessions. It shows each node as the servers had it at one time, and
 * never goes back to an older state. Two nodes may be from different times, one round trip apart, or as far apart as `staleSince`
 * says while the mirror is stale.
 *
 * What it does not notice: changes to ACLs, which cause no events. A node that this client may not read has no data here, and
 * nothing below it is mirrored. When this client may read it again, the mirror notices that with its next change, or after the
 * next lost connection. Servers from 3.8.4 and 3.9.2 on send no events for such nodes at all.
 */
export class Mirror {
  /** The path of the top node. It need not exist: the mirror is then empty. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #options: MirrorOptions

  constructor(zk: ZooKeeper, path: string, options: MirrorOptions = {}) {
    checkMirror(zk, path, options)
    this.path = path
    this.#zk = zk
    this.#options = { ...options }
  }

  /**
   * Resolves when the content is whole: as recent as the server of this client was at some time after the call. Rejects with a
   * `RecipeError`, `MirrorTooLarge`, when the tree exceeds a limit, with `ResponseTooLarge` when a list of children exceeds the client's
   * `maxResponseSize`, with the reason of the signal, and with any permanent error (`Closed`, `AuthFailed` …). Then no watch is
   * left. It waits for servers without a time limit.
   *
   * The signal closes the mirror, also when it is open.
   */
  async open(options: Pick<WaitOptions, 'signal'> = {}): Promise<OpenMirror> {
    checkOpen(options)
    throwIfAborted(options.signal)
    const { depth = Infinity, filter, maxNodes = MAX_NODES, maxBytes = MAX_BYTES } = this.#options
    return await new OpenMirror(this.#zk, this.path, { depth, filter, maxNodes, maxBytes }).opened(options.signal)
  }
}

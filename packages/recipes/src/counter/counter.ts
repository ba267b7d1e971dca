import type { CallOptions, WaitOptions, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import type { ACLOptions } from '../kernel/acl-options.ts'
import { checkNames, checkOwnACL, checkPlace, checkWait } from '../kernel/checks.ts'
import { Change } from './change.ts'
import { CounterWriter } from './counter-writer.ts'
import { checkBigint, checked, toValue } from './value.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { withLimit } from '../kernel/limit.ts'

const counterOptions = ['acl']
const changeOptions = ['timeout', 'signal']

/**
 * A number that many programs change, from -2^63 to 2^63 - 1. Curator's DistributedAtomicLong reads and writes the same node.
 *
 *     const counter = new Counter(zk, '/orders')
 *     const number = await counter.add(1n)
 *
 * A change happens once, even if its answer is lost. If that cannot be known, the call rejects with an error that has
 * `outcomeUnknown`. A missing node is 0n. The first change creates it as a persistent node, and what is missing above it as containers.
 */
export class Counter {
  /** The path of its node. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #writer: CounterWriter

  constructor(zk: ZooKeeper, path: string, options: ACLOptions = {}) {
    checkPlace(zk, path, 'a counter needs a node of its own')
    checkNames('new Counter', options, counterOptions, '{ acl: CREATOR_ALL_ACL }')
    checkOwnACL(options.acl)
    this.path = path
    this.#zk = zk
    this.#writer = new CounterWriter(zk, path, options.acl)
  }

  /**
   * The value, according to the server of this client: at least as new as what this client has seen in its session. Call
   * `zk.sync(path)` first for a newer value.
   */
  async get(options: CallOptions = {}): Promise<bigint> {
    const node = await ifMissing((asking) => this.#zk.getData(this.path, asking), options, undefined)
    return node === undefined ? 0n : toValue(this.path, node.data)
  }

  /**
   * Adds `delta`, which may be negative, and resolves with the sum. Rejects with a `RangeError`, and sends nothing, if the sum is
   * out of range.
   *
   * The call continues after a lost connection and after an expired session. It rejects with a `KeeperError` that has
   * `outcomeUnknown` if the change was sent, and the session ended, or the time was up, before an answer came. After `timeout`, the
   * session timeout by default, it rejects with `RequestTimeout`.
   */
  async add(delta: bigint, options: WaitOptions = {}): Promise<bigint> {
    checkBigint('add takes', delta)
    return await this.#change('add', (value) => value + delta, options)
  }

  /**
   * Changes the value to the result of `change`, and resolves with that. `change` is called again when another program was
   * faster. If it throws, the call rejects with that error, and nothing is written. Otherwise like `add`.
   */
  async update(change: (value: bigint) => bigint, options: WaitOptions = {}): Promise<bigint> {
    if (typeof change !== 'function') throw new TypeError('update takes a function: update((value) => value * 2n)')
    return await this.#change('update', change, options)
  }

  async #change(name: 'add' | 'update', apply: (value: bigint) => bigint, options: WaitOptions): Promise<bigint> {
    checkWait(name, options, changeOptions)
    const { runtime, session } = this.#zk
    const { timeout = session.timeout, signal } = options
    throwIfAborted(signal)
    const change = new Change(name, this.path, (value) => checked(this.path, apply(value)))
    const limits = { signals: [signal], timeout: { after: timeout, error: () => change.tooLate() } }
    this.#writer.add(change)
    try {
      return await withLimit(runtime, limits, (limit) => limit.during(change.settled))
    } finally {
      this.#writer.drop(change)
    }
  }
}

// The record of the last run: a child of the job's node, `done`. Its data is JSON for people and programs:
//
//     {"version":1,"slot":"2026-11-27","at":"2026-11-27T01:00:00.312Z","label":"host-1","fencingToken":"0x10000000b"}
//
// There is one for each job, however many periods it has had. It is a child, and not the data of the job's node, so that servers
// never delete it: the job's node is a container, and a container with a child stays.
import { type ACL, type CallOptions, type Op, op, type ZooKeeper } from '@zk/client'
import { hex, inJson, printable } from '@zk/client/internal'
import { ifMissing } from '../kernel/if-missing.ts'
import { retry } from '../kernel/retry.ts'
import { textOf } from './period.ts'

/** A run of `once` that is recorded, or will be when its body has ended. In JSON `fencingToken` is text, `0x…`. */
export interface OnceRun {
  /** The period: the option `slot`, or with `every` the time at which the period began, such as `2026-11-27T01:00:00.000Z`. */
  readonly slot: string
  /** When the call got its place in line, by the leader's clock, in ms since the epoch. */
  readonly at: number
  /** The label of the call that ran it. */
  readonly label: string
  /** The fencing token of its hold. */
  readonly fencingToken: bigint
}

/** What the node has: undefined if it does not exist. */
export interface Stored {
  readonly text: string
  readonly version: number
}

const VERSION = 1
/** How much of foreign data a message shows, in characters. */
const MOST_SHOWN = 60

const utf8 = new TextDecoder()

export class RunRecord {
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #acl: readonly ACL[] | undefined

  constructor(zk: ZooKeeper, jobPath: string, acl: readonly ACL[] | undefined) {
    this.path = `${jobPath}/done`
    this.#zk = zk
    this.#acl = acl
  }

  async read(options: CallOptions): Promise<Stored | undefined> {
    const reading = () => ifMissing((asking) => this.#zk.getData(this.path, asking), options, undefined)
    const node = await retry(this.#zk, reading, options.signal)
    return node && { text: utf8.decode(node.data), version: node.stat.version }
  }

  /** Writes the run over what is stored. Fails if that has changed. */
  replace(stored: Stored | undefined, run: OnceRun): Op<unknown> {
    const text = recordOf(run)
    if (stored === undefined) return op.create(this.path, text, { acl: this.#acl })
    return op.setData(this.path, text, { version: stored.version })
  }

  /** The run that is stored. Throws a `TypeError` if the data is not a record of this release. */
  parse(stored: Stored | undefined): OnceRun | undefined {
    if (stored === undefined) return undefined
    const fields = fieldsOf(stored.text)
    const run = fields && runOf(fields)
    if (run !== undefined) return run
    const isNewer = typeof fields?.['version'] === 'number' && fields['version'] > VERSION
    const problem = isNewer ? `is the record of a later release (version ${String(fields['version'])})` : 'is no record'
    const remedy = isNewer ? 'Update this program' : 'Delete the node: then the next call runs'
    const text = JSON.stringify(stored.text.slice(0, MOST_SHOWN))
    throw new TypeError(
      printable(`${this.path} ${problem} of a run, so it is not known what was done: ${text}. ${remedy}.`),
    )
  }
}

export function recordOf({ slot, at, label, fencingToken }: OnceRun): string {
  return JSON.stringify({ version: VERSION, slot, at: textOf(at), label, fencingToken: hex(fencingToken) })
}

function fieldsOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function runOf({ version, slot, at, label, fencingToken }: Record<string, unknown>): OnceRun | undefined {
  if (version !== VERSION || typeof slot !== 'string' || typeof label !== 'string') return undefined
  if (typeof at !== 'string' || typeof fencingToken !== 'string' || !/^0x[0-9a-f]+$/.test(fencingToken))
    return undefined
  // oxlint-disable-next-line no-restricted-globals -- turns text into a time, and asks no clock
  const time = Date.parse(at)
  return Number.isNaN(time) ? undefined : inJson({ slot, at: time, label, fencingToken: BigInt(fencingToken) })
}

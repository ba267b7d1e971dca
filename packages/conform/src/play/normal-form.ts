// Shows values in a form that is the same in two runs of a scenario. Zxids are shown by rank, sessions by name, and paths
// relative to the root of the scenario. Times are only compared with the times that they must equal.
import { type ACL, errorName, eventName, OpCode, operationName, type Stat } from '@zk/wire'
import { toHex } from './bytes.ts'

/** What differs from one run to the next, and so is hidden in a transcript. */
export interface Surroundings {
  /** The node that is shown as `/`. */
  readonly root: string
  /** The address of the client, as servers see it; undefined if they do not say. */
  readonly clientAddress: string | undefined
  /** The time at which the run began, in ms since the epoch. */
  readonly since: number
  /** The time at which the run ended. */
  readonly until: number
}

/** How much the clocks of clients and servers may differ, in ms. */
const CLOCK_SLACK = 2_000
/** If data or text is longer than this, only its length is shown. */
const LONGEST = 200

/** The zxid of an event does not add a rank: before 3.9 events have no zxid. */
const EVENT_ZXID = 'eventZxid'
const zxidFields = new Set([EVENT_ZXID, 'zxid', 'czxid', 'mzxid', 'pzxid', 'relativeZxid', 'lastZxidSeen'])
/** These are in the order of a Java HashSet, which depends on the names of parent nodes and on the client's address. */
const hashedFields = new Set(['children', 'ephemerals', 'clientInfo'])
const sessionFields = new Set(['sessionId', 'ephemeralOwner'])

export class NormalForm {
  readonly #surroundings: Surroundings
  readonly #sessions: ReadonlyMap<bigint, string>
  readonly #zxids = new Set<bigint>()
  /** The rank of each zxid; made when the first one is shown. */
  #ranks: ReadonlyMap<bigint, number> | undefined
  /** The time of each transaction, from the first Stat that contains it. */
  readonly #times = new Map<bigint, bigint>()

  constructor(sessions: ReadonlyMap<bigint, string>, surroundings: Surroundings) {
    this.#sessions = sessions
    this.#surroundings = surroundings
  }

  /** Registers the zxids in a value. All values must be registered before the first is shown. */
  learn(value: unknown, field = ''): void {
    if (typeof value === 'bigint') {
      if (zxidFields.has(field) && field !== EVENT_ZXID && value > 0n) this.#zxids.add(value)
    } else if (Array.isArray(value)) {
      for (const item of value) this.learn(item)
    } else if (isRecord(value)) {
      for (const [name, part] of Object.entries(value)) this.learn(part, name)
    }
  }

  show(value: unknown, field = ''): string {
    if (typeof value === 'bigint') return this.#long(value, field)
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'number') return this.#number(value, field)
    if (value instanceof Uint8Array) return bytes(value)
    if (Array.isArray(value)) return this.#list(value, field)
    if (isStat(value)) return this.#stat(value)
    if (isRecord(value)) return this.#record(value)
    if (typeof value === 'boolean') return value ? 'true' : 'false'
    return value === null ? 'null' : ''
  }

  #long(value: bigint, field: string): string {
    if (zxidFields.has(field)) return this.#zxid(value)
    if (sessionFields.has(field) && value !== 0n) return this.#sessions.get(value) ?? `0x${value.toString(16)}`
    return String(value)
  }

  /** `z3` is the third of all registered zxids in the order of transactions. */
  #zxid(zxid: bigint): string {
    if (zxid <= 0n) return String(zxid)
    // Only the zxid of an event can be one that occurs nowhere else.
    if (!this.#zxids.has(zxid)) return 'z?'
    this.#ranks ??= new Map([...this.#zxids].sort((a, b) => (a < b ? -1 : 1)).map((each, index) => [each, index + 1]))
    return `z${this.#ranks.get(zxid)}`
  }

  #number(value: number, field: string): string {
    if (field === 'err') return errorName(value) ?? String(value)
    return String(value)
  }

  #text(value: string): string {
    const { root, clientAddress } = this.#surroundings
    const parent = root.slice(0, root.lastIndexOf('/'))
    const below = value.replaceAll(`${root}/`, '/').replaceAll(root, '/').replaceAll(parent, '/..')
    const plain = clientAddress === undefined ? below : below.replaceAll(clientAddress, 'CLIENT')
    return plain.length > LONGEST ? `${plain.length} characters` : JSON.stringify(plain)
  }

  #list(items: readonly unknown[], field: string): string {
    const shown = items.map((item) => this.show(item))
    if (hashedFields.has(field)) shown.sort()
    return `[${shown.join(', ')}]`
  }

  #record(record: Readonly<Record<string, unknown>>): string {
    if (isEvent(record))
      return `${eventName(record.type) ?? record.type} ${this.show(record.path)} state ${record.state}`
    if (isACL(record)) return `${this.show(record.id.scheme)}:${this.show(record.id.id)} ${record.perms}`
    if (isMultiPart(record)) {
      const { type, ...body } = record
      const name = type === OpCode.error ? 'error' : (operationName(type) ?? String(type))
      return `${name} ${this.show(Object.values(body)[0])}`
    }
    const parts = Object.entries(record)
      .filter(([name, value]) => value !== undefined && name !== 'passwd')
      .map(([name, value]) => `${name}: ${this.show(value, name)}`)
    return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
  }

  #stat({ czxid, mzxid, pzxid, ctime, mtime, ...rest }: Stat): string {
    const times = [this.#oddTime('ctime', czxid, ctime), this.#oddTime('mtime', mzxid, mtime)]
    const { version, cversion, aversion, ephemeralOwner, dataLength, numChildren } = rest
    return [
      `czxid ${this.#zxid(czxid)} mzxid ${this.#zxid(mzxid)} pzxid ${this.#zxid(pzxid)}`,
      `version ${version} cversion ${cversion} aversion ${aversion}`,
      `owner ${this.#long(ephemeralOwner, 'ephemeralOwner')} dataLength ${dataLength} numChildren ${numChildren}`,
      ...times.filter((time) => time !== undefined),
    ].join(' ')
  }

  /** Says what is wrong with a time: it must be the same wherever the transaction is shown, and within the run. */
  #oddTime(name: string, zxid: bigint, time: bigint): string | undefined {
    if (zxid === 0n) return time === 0n ? undefined : `${name} not 0`
    const known = this.#times.get(zxid)
    if (known === undefined) this.#times.set(zxid, time)
    else if (known !== time) return `${name} not that of ${this.#zxid(zxid)}`
    const { since, until } = this.#surroundings
    const isWithin = time >= BigInt(since - CLOCK_SLACK) && time <= BigInt(until + CLOCK_SLACK)
    return isWithin ? undefined : `${name} not within the run`
  }
}

function bytes(value: Uint8Array): string {
  if (value.length > LONGEST) return `${value.length} bytes`
  const isText = value.every((byte) => byte >= 0x20 && byte < 0x7f)
  return isText ? `'${String.fromCharCode(...value)}'` : `0x${toHex(value)}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
}

function isStat(value: unknown): value is Stat {
  return isRecord(value) && 'czxid' in value && 'numChildren' in value
}

function isEvent(value: Readonly<Record<string, unknown>>): value is { type: number; state: number; path: unknown } {
  return typeof value['type'] === 'number' && 'state' in value && 'path' in value
}

function isACL(value: Readonly<Record<string, unknown>>): value is ACL {
  return typeof value['perms'] === 'number' && isRecord(value['id'])
}

function isMultiPart(value: Readonly<Record<string, unknown>>): value is { type: number } {
  return typeof value['type'] === 'number' && ('request' in value || 'response' in value)
}

// The counters of a server, for the four-letter words (ServerStats, ServerCnxn).
import { ErrorCode, type OperationName } from '@zk/wire'
import { isWrite } from '../database/index.ts'

/** How long requests took, in ms (AvgMinMaxCounter). */
class Latency {
  #min = Infinity
  #max = 0
  #total = 0
  #count = 0

  add(ms: number): void {
    if (ms < this.#min) this.#min = ms
    if (ms > this.#max) this.#max = ms
    this.#total += ms
    this.#count++
  }

  reset(): void {
    this.#min = Infinity
    this.#max = 0
    this.#total = 0
    this.#count = 0
  }

  get min(): number {
    return this.#count === 0 ? 0 : this.#min
  }

  get max(): number {
    return this.#max
  }

  get average(): number {
    return this.#count === 0 ? 0 : this.#total / this.#count
  }
}

export class ServerStats {
  received = 0
  sent = 0
  authFailed = 0
  readonly latency = new Latency()

  /** For `srst`: resets all counters except `authFailed` (ServerStats.reset). */
  reset(): void {
    this.received = 0
    this.sent = 0
    this.latency.reset()
  }
}

export class ConnectionStats {
  received = 0
  sent = 0
  /** The text that Java prints for a value that was never set. */
  lastOp = 'null'
  lastCxid = 0
  lastZxid = 0n
  /** In ms since the ensemble began. */
  lastResponseTime = 0
  lastLatency = 0
  readonly latency = new Latency()

  /** For `crst`: resets the counters. Some values then differ from those of a new connection (ServerCnxn.resetStats). */
  reset(): void {
    this.received = 0
    this.sent = 0
    this.lastOp = 'NA'
    this.lastCxid = -1
    this.lastZxid = -1n
    this.lastResponseTime = 0
    this.lastLatency = 0
    this.latency.reset()
  }
}

/** The name of an operation in `cons`; `NA` for a refused write, and for a request that was not looked at. */
export function lastOp(op: OperationName | undefined, opCode: number, err: number): string {
  const isUnseen = err === ErrorCode.ThrottledOp || (err !== ErrorCode.Ok && isWrite(opCode))
  return (isUnseen ? undefined : op && shortNames[op]) ?? 'NA'
}

/** The names of FinalRequestProcessor. */
const shortNames: Readonly<Partial<Record<OperationName, string>>> = {
  ping: 'PING',
  createSession: 'SESS',
  multi: 'MULT',
  multiRead: 'MLTR',
  create: 'CREA',
  create2: 'CREA',
  createTTL: 'CREA',
  createContainer: 'CREA',
  delete: 'DELE',
  deleteContainer: 'DELE',
  setData: 'SETD',
  reconfig: 'RECO',
  setACL: 'SETA',
  closeSession: 'CLOS',
  sync: 'SYNC',
  check: 'CHEC',
  exists: 'EXIS',
  getData: 'GETD',
  setWatches: 'SETW',
  setWatches2: 'STW2',
  addWatch: 'ADDW',
  getACL: 'GETA',
  getChildren: 'GETC',
  getChildren2: 'GETC',
  getAllChildrenNumber: 'GETACN',
  checkWatches: 'CHKW',
  removeWatches: 'REMW',
  whoAmI: 'HOMI',
  getEphemerals: 'GETE',
}

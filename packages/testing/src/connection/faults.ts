import { ErrorCode, type ErrorName } from '@zk/wire'
import {
  checkKeys,
  type Ending,
  type Fault,
  type FaultMatch,
  type Matcher,
  matcher,
  opsOf,
  show,
  strikesRequest,
  type Subject,
} from './fault.ts'
import { FaultRule } from './fault-rule.ts'

/** The frames that are lost, and what happens to the connection. */
export interface LossOptions extends FaultMatch {
  /** What happens to the connection. @default 'end' */
  connection?: Ending | undefined
}

/** The replies after which the connection is lost, and how. */
export interface DropOptions extends FaultMatch {
  /** How the connection is lost. @default 'end' */
  connection?: Exclude<Ending, 'open'> | undefined
}

/** The frames that are delayed, and by how much. */
export interface DelayOptions extends FaultMatch {
  /** The delay, in ms, above 0. */
  ms: number
}

/** The requests that fail, and their code. */
export interface FailOptions extends FaultMatch {
  /** The code of the answer: a name such as 'NodeExists', or a number, which may be one that is not assigned. */
  code: ErrorName | number
}

/** The replies that are replaced, and the bytes in their place. */
export interface GarbageOptions extends FaultMatch {
  /** The bytes in place of the reply. @default an impossible length: ff ff ff ff */
  bytes?: Uint8Array | undefined
}

/** The replies that are split, and where. */
export interface SplitOptions extends FaultMatch {
  /** How many bytes of the frame come first, including the 4 bytes of its length; at least 1. @default 6 */
  at?: number | undefined
  /** How much later the rest comes, in ms. @default 20 */
  ms?: number | undefined
}

/** The replies that wait for the next frame, and for how long. */
export interface MergeOptions extends FaultMatch {
  /** The longest time that the frame waits for the next one, in ms. @default 1_000 */
  ms?: number | undefined
}

/** The handshakes that are answered with another session. */
export type ReplaceSessionOptions = Omit<FaultMatch, 'op' | 'path'>

const MATCH = ['op', 'path', 'session', 'member', 'nth', 'times'] as const
const MATCH_RESUME = ['session', 'member', 'nth', 'times'] as const
const ENDINGS: readonly Ending[] = ['end', 'reset', 'halfOpen', 'open']

/**
 * Makes requests and replies go wrong. Each method makes a rule. The rule counts matching frames from now on, and ends when
 * it has struck `times` of them. If a frame is dropped with its connection before it is struck, the rule strikes another one
 * instead. If several rules match a frame, the oldest one strikes it, and the others only count it. A wrong argument throws
 * a `TypeError` or a `RangeError` that says what would be right.
 *
 * If a frame waits (`delayRequest`, `delayReply`, `split`, `merge`), all later frames of the connection wait, too, as in
 * TCP.
 */
export class Faults {
  readonly #members: readonly string[]
  #rules: FaultRule[] = []

  /** @internal */
  constructor(members: readonly string[]) {
    this.#members = members
  }

  /** The request is lost before it is executed. */
  loseRequest(options: LossOptions = {}): FaultRule {
    return this.#add('loseRequest', options, ['connection'], () => ({ connection: endingOf('loseRequest', options) }))
  }

  /** The request is executed, and the reply is lost. For `event`: the event is lost. */
  loseReply(options: LossOptions = {}): FaultRule {
    return this.#add('loseReply', options, ['connection'], () => ({ connection: endingOf('loseReply', options) }))
  }

  /** The request is executed and answered, and the connection is lost right after the reply. */
  drop(options: DropOptions = {}): FaultRule {
    return this.#add('drop', options, ['connection'], () => {
      const connection = endingOf('drop', options)
      if (connection === 'open') throw new TypeError(`drop: connection must be 'end', 'reset' or 'halfOpen'`)
      return { connection }
    })
  }

  /** The request reaches the server later. */
  delayRequest(options: DelayOptions): FaultRule {
    return this.#add('delayRequest', options, ['ms'], () => ({ ms: durationOf('delayRequest', options.ms) }))
  }

  /** The request is executed at once, and its reply comes later. */
  delayReply(options: DelayOptions): FaultRule {
    return this.#add('delayReply', options, ['ms'], () => ({ ms: durationOf('delayReply', options.ms) }))
  }

  /**
   * The request is not executed, and is answered with this code. For `connect` only `SessionExpired` is possible: the client
   * then learns that its session has expired, although it lives.
   */
  fail(options: FailOptions): FaultRule {
    return this.#add('fail', options, ['code'], () => {
      const err = codeOf(options.code)
      const ops = opsOf(options)
      if (ops?.has('connect') && (err !== ErrorCode.SessionExpired || ops.size !== 1)) {
        throw new TypeError(`fail: connect can only fail with 'SessionExpired', and needs a rule of its own`)
      }
      return { err }
    })
  }

  /**
   * A handshake that resumes a session is answered with a new session, as if the server had forgotten the old one (ClickHouse
   * Keeper does this). The old session lives on until it expires. Handshakes of new sessions do not match.
   */
  replaceSession(options: ReplaceSessionOptions = {}): FaultRule {
    checkKeys('replaceSession', options, MATCH_RESUME)
    return this.#add('replaceSession', { ...options, op: 'connect' }, [], () => ({}))
  }

  /** The request is executed, but bytes that are not a reply come in place of its reply. */
  garbage(options: GarbageOptions = {}): FaultRule {
    return this.#add('garbage', options, ['bytes'], () => {
      const { bytes = Uint8Array.of(0xff, 0xff, 0xff, 0xff) } = options
      if (!(bytes instanceof Uint8Array)) throw new TypeError('garbage: bytes must be a Uint8Array')
      return { bytes: bytes.slice() }
    })
  }

  /** The reply comes in two pieces. */
  split(options: SplitOptions = {}): FaultRule {
    return this.#add('split', options, ['at', 'ms'], () => {
      const { at = 6, ms = 20 } = options
      if (!Number.isInteger(at) || at < 1)
        throw new RangeError(`split: at must be a number of bytes, at least 1, not ${show(at)}`)
      return { at, ms: durationOf('split', ms) }
    })
  }

  /** The reply waits for the next frame to this client and comes in one piece with it. */
  merge(options: MergeOptions = {}): FaultRule {
    return this.#add('merge', options, ['ms'], () => ({ ms: durationOf('merge', options.ms ?? 1_000) }))
  }

  /** The rules that may still strike. */
  get rules(): readonly FaultRule[] {
    return [...this.#rules]
  }

  /** Removes all rules. */
  clear(): void {
    this.#rules = []
  }

  /** The rule that strikes this frame; undefined if there is none. @internal */
  take(subject: Subject): FaultRule | undefined {
    let taken: FaultRule | undefined
    for (const rule of this.#rules) if (rule.seizes(subject, taken === undefined)) taken = rule
    return taken
  }

  /** Whether there are no rules. @internal */
  get isEmpty(): boolean {
    return this.#rules.length === 0
  }

  #add<Type extends Fault['type']>(
    type: Type,
    options: FaultMatch,
    own: readonly string[],
    details: () => Omit<Extract<Fault, { type: Type }>, 'type'>,
  ): FaultRule {
    checkKeys(type, options, [...MATCH, ...own])
    const { nth = 1, times = 1 } = options
    if (!Number.isInteger(nth) || nth < 1)
      throw new RangeError(`${type}: nth must be an integer from 1 on, not ${show(nth)}`)
    if (times !== Infinity && (!Number.isInteger(times) || times < 1)) {
      throw new RangeError(`${type}: times must be an integer from 1 on, or Infinity, not ${show(times)}`)
    }
    if (strikesRequest(type) && opsOf(options)?.has('event')) {
      throw new TypeError(`${type}: an event has no request; it can be lost or delayed as a reply`)
    }
    const fault = { type, ...details() } as unknown as Fault
    const matches = matcher(options, this.#members)
    const matchesFault: Matcher =
      type === 'replaceSession' ? (subject) => subject.session !== 0n && matches(subject) : matches
    const rule = new FaultRule(fault, matchesFault, { nth, times }, (spent) => {
      this.#rules = this.#rules.filter((other) => other !== spent)
    })
    this.#rules.push(rule)
    return rule
  }
}

function endingOf(type: string, { connection = 'end' }: { readonly connection?: Ending | undefined }): Ending {
  if (ENDINGS.includes(connection)) return connection
  throw new TypeError(`${type}: connection must be one of ${ENDINGS.join(', ')}, not ${show(connection)}`)
}

function durationOf(type: string, ms: number): number {
  if (Number.isFinite(ms) && ms > 0) return ms
  throw new RangeError(`${type}: ms must be a number above 0, not ${show(ms)}`)
}

function codeOf(code: ErrorName | number): number {
  const err = typeof code === 'string' ? ErrorCode[code] : code
  if (Number.isInteger(err) && err !== 0 && err === (err | 0)) return err
  throw new TypeError(`fail: code must be the name of an error, such as 'NoNode', or its number, not ${show(code)}`)
}

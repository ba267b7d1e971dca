// The spans: one for each call, one for each wait for a lock, and one for each hold.
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { RequestMessage } from '@zk/client'
import type { AcquireMessage, RecipeMessages } from '@zk/recipes'
import { type Contention, defined, failureOf, serverAttributes } from './attributes.ts'
import type { PathLabels } from './path-labels.ts'

export class Spans {
  readonly #tracer: () => Tracer
  readonly #paths: PathLabels
  /** All events of a call have one message object. */
  readonly #calls = new Map<RequestMessage | AcquireMessage, Span>()
  /** By the path of the contender's node, whose name has a UUID. */
  readonly #holds = new Map<string, Span>()

  constructor(tracer: () => Tracer, paths: PathLabels) {
    this.#tracer = tracer
    this.#paths = paths
  }

  /** The subscribers, by channel. A span is a child of the span that is active when it starts: each starts in its caller's context. */
  readonly subscribers = {
    'tracing:zk:request:start': (message: RequestMessage) => {
      const { client, op, path, paths } = message
      const attributes = {
        'db.system.name': 'zookeeper',
        'db.operation.name': op,
        'db.operation.batch.size': paths !== undefined && paths.length > 1 ? paths.length : undefined,
        'zk.client': client,
        'zk.path': path,
        'zk.paths': paths && [...paths],
      }
      this.#calls.set(message, this.#start(op, path, attributes, SpanKind.CLIENT))
    },
    'tracing:zk:request:asyncEnd': (message: RequestMessage) => {
      const { code, error, outcomeUnknown, server, xid } = message
      const attributes = {
        'db.response.status_code': code,
        'zk.outcome_unknown': outcomeUnknown === true ? true : undefined,
        'zk.xid': xid,
        ...serverAttributes(server),
      }
      end(taken(this.#calls, message), attributes, failureOf(message), error)
    },
    'tracing:zk:acquire:start': (message: AcquireMessage) => {
      this.#calls.set(message, this.#startLock('acquire', message))
    },
    'tracing:zk:acquire:asyncEnd': (message: AcquireMessage) => {
      const { outcome, node, position, error } = message
      const span = taken(this.#calls, message)
      // `zk:acquired` has started the span of the hold.
      if (span !== undefined && node !== undefined) this.#holds.get(node)?.addLink({ context: span.spanContext() })
      const failure = outcome === 'timeout' || outcome === 'failed' ? outcome : undefined
      end(span, { 'zk.lock.outcome': outcome, 'zk.lock.position': position }, failure, error)
    },
    'zk:acquired': (message: RecipeMessages['zk:acquired']) => {
      const { node, fencingToken } = message
      const own = { 'zk.lock.node': node, 'zk.lock.fencing_token': `0x${fencingToken.toString(16)}` }
      this.#holds.set(node, this.#startLock('hold', message, own))
    },
    'zk:suspended': ({ node, leaseRemaining }: RecipeMessages['zk:suspended']) => {
      this.#holds.get(node)?.addEvent('zk.lock.suspended', { 'zk.lock.lease_remaining': leaseRemaining / 1_000 })
    },
    'zk:resumed': ({ node, leaseRemaining }: RecipeMessages['zk:resumed']) => {
      this.#holds.get(node)?.addEvent('zk.lock.resumed', { 'zk.lock.lease_remaining': leaseRemaining / 1_000 })
    },
    'zk:released': ({ node }: RecipeMessages['zk:released']) => end(taken(this.#holds, node), {}),
    'zk:lost': ({ node, reason, err }: RecipeMessages['zk:lost']) => {
      const failure = reason === 'Downgraded' ? undefined : reason
      end(taken(this.#holds, node), { 'zk.lock.loss_reason': reason }, failure, err)
    },
  }

  /** Ends all spans: nothing reports their end any more. */
  stop(): void {
    for (const span of [...this.#calls.values(), ...this.#holds.values()]) span.end()
    this.#calls.clear()
    this.#holds.clear()
  }

  #startLock(verb: string, { client, kind, path }: Contention, own: Attributes = {}): Span {
    const attributes = { 'zk.client': client, 'zk.lock.kind': kind, 'zk.path': path, ...own }
    return this.#start(`${verb} ${kind}`, kind === 'multi' ? undefined : path, attributes, SpanKind.INTERNAL)
  }

  /** Names of spans have few different values, too. */
  #start(name: string, path: string | undefined, attributes: Attributes, kind: SpanKind): Span {
    const label = this.#paths.of(path)
    const fullName = label === undefined ? name : `${name} ${label}`
    return this.#tracer().startSpan(fullName, { kind, attributes: defined(attributes) })
  }
}

function taken<Key>(spans: Map<Key, Span>, key: Key): Span | undefined {
  const span = spans.get(key)
  spans.delete(key)
  return span
}

/** Ends the span: with an error status if it has a failure. */
function end(span: Span | undefined, attributes: Attributes, failure?: string, error?: unknown): void {
  if (span === undefined) return
  span.setAttributes(defined({ ...attributes, 'error.type': failure }))
  if (failure !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : failure })
  }
  span.end()
}

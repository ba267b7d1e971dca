// OpenTelemetry spans from the diagnostics channels: one for each call of a client, and one for each lock that is held.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { RequestMessage } from '@zk/client'
import type { RecipeMessages } from '@zk/recipes'

/**
 * From now on each call has a span, a child of the span that is active at the call. Each hold of a lock has a span, too. The
 * returned function ends this.
 */
export function traceZooKeeper(): () => void {
  const tracer = trace.getTracer('zk')
  // Each call has one message object, which is the key.
  const calls = new WeakMap<RequestMessage, Span>()
  const holds = new Map<string, Span>()

  const called = (message: RequestMessage) => {
    const { op, path, paths, server } = message
    const attributes = defined({
      'db.system.name': 'zookeeper',
      'db.operation.name': op,
      'zk.path': path,
      'zk.paths': paths && [...paths],
      'server.address': server,
    })
    calls.set(message, tracer.startSpan(`zk ${op}`, { kind: SpanKind.CLIENT, attributes }, context.active()))
  }
  const settled = (message: RequestMessage) => {
    const { code, outcomeUnknown, xid, error } = message
    const span = calls.get(message)
    if (span === undefined) return
    span.setAttributes(defined({ 'zk.xid': xid, 'zk.code': code, 'zk.outcome_unknown': outcomeUnknown }))
    if (error !== undefined)
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : (code ?? '') })
    span.end()
  }
  const acquired = ({ path, kind, node, fencingToken, waited }: RecipeMessages['zk:acquired']) => {
    const attributes = {
      'zk.path': path,
      'zk.kind': kind,
      'zk.fencing_token': String(fencingToken),
      'zk.waited_ms': waited,
    }
    holds.set(node, tracer.startSpan(`zk hold ${path}`, { attributes }, context.active()))
  }
  const ended = ({ node, reason }: Partial<RecipeMessages['zk:lost']> & { readonly node: string }) => {
    const span = holds.get(node)
    holds.delete(node)
    if (reason !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: reason })
    span?.end()
  }

  const subscribers = [
    ['tracing:zk:request:start', called],
    ['tracing:zk:request:asyncEnd', settled],
    ['zk:acquired', acquired],
    ['zk:released', ended],
    ['zk:lost', ended],
  ] as [name: string, subscriber: (message: unknown) => void][]
  for (const [name, subscriber] of subscribers) subscribe(name, subscriber)
  return () => {
    for (const [name, subscriber] of subscribers) unsubscribe(name, subscriber)
  }
}

/** Without the attributes that are not known. */
function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}

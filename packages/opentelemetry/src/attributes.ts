// The names of attributes. A call is a call of a database client in the semantic conventions of OpenTelemetry: its span and its
// histogram have the names of these conventions. They have none for a lock, nor for a session.
import type { Attributes } from '@opentelemetry/api'
import type { RequestMessage } from '@zk/client'
import type { AcquireMessage } from '@zk/recipes'
import type { PathLabels } from './path-labels.ts'

/** What a call, a wait and a hold have in common in metrics: few different values. */
export function callLabels({ client, op, path }: RequestMessage, paths: PathLabels): Attributes {
  return defined({
    'db.system.name': 'zookeeper',
    'db.operation.name': op,
    'zk.client': client,
    'zk.path': paths.of(path),
  })
}

/** A `MultiLock` has several paths, so it has no path in metrics. */
export function lockLabels({ client, kind, path }: Contention, paths: PathLabels): Attributes {
  return defined({
    'zk.client': client,
    'zk.lock.kind': kind,
    'zk.path': kind === 'multi' ? undefined : paths.of(path),
  })
}

export type Contention = Pick<AcquireMessage, 'client' | 'kind' | 'path'>

/** The code of a call that failed. A caller that aborts its own call is no failure. */
export function failureOf({ code, error }: RequestMessage): string | undefined {
  return error === undefined || code === 'Aborted' ? undefined : code
}

/** `host:port`, where the host may be an IPv6 address in brackets. */
export function serverAttributes(server: string | undefined): Attributes {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(server ?? '') ?? []
  return host === undefined ? {} : { 'server.address': host, 'server.port': Number(port) }
}

/** Without the attributes that are not known. */
export function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}

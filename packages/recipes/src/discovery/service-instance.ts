// An instance of a service, and its JSON: that of Curator's JsonInstanceSerializer (ServiceInstance, ServiceType, UriSpec).

/**
 * Curator's ServiceType. `DYNAMIC`: the node is ephemeral. `STATIC`, `PERMANENT`: it is not. `DYNAMIC_SEQUENTIAL`: it is
 * ephemeral, and its name ends in a number. Instances that are registered here are `DYNAMIC`.
 */
export type ServiceType = 'DYNAMIC' | 'STATIC' | 'PERMANENT' | 'DYNAMIC_SEQUENTIAL'

/** The fields of an instance that may change while it is registered. */
export interface InstanceDetails {
  /** Its host name or address. */
  address?: string | undefined
  /** Its port. */
  port?: number | undefined
  /** Its port with TLS. */
  sslPort?: number | undefined
  /**
   * A value for JSON. A JVM that reads an object finds its class in `@class`; without that it reads a `java.util.Map`. The JVM
   * must build its ServiceDiscovery for such payloads.
   */
  payload?: unknown
  /** A URI with fields in braces, such as `{scheme}://{address}:{port}`: see `uriOf`. */
  uriSpec?: string | undefined
  /** Whether clients should use it. Curator's ServiceProvider leaves out instances that are not enabled. @default true */
  enabled?: boolean | undefined
}

/** An instance of a service. */
export interface ServiceInstance {
  /** The name of the service. */
  readonly name: string
  /** The id of the instance, which is the name of its node. */
  readonly id: string
  /** Its host name or address. */
  readonly address: string | undefined
  /** Its port. */
  readonly port: number | undefined
  /** Its port with TLS. */
  readonly sslPort: number | undefined
  /** The value that it registered; undefined for none. Objects of a JVM have their class in `@class`. */
  readonly payload: unknown
  /** When it was registered, by its own clock, in ms since the epoch. */
  readonly registrationTimeUTC: number
  /** What kind of node it has. */
  readonly serviceType: ServiceType
  /** A URI with fields in braces; undefined for none. */
  readonly uriSpec: string | undefined
  /** Whether clients should use it. */
  readonly enabled: boolean
}

interface UriPart {
  readonly value: string
  readonly variable: boolean
}

/**
 * The JSON of the instance, with the fields in Curator's order. Missing fields are null. The JSON has `enabled` only if it is
 * false: clients before CURATOR-275 do not know the field, and cannot read JSON that has it. If it is missing, Curator takes it as true.
 */
export function instanceToJSON(instance: ServiceInstance): string {
  const { name, id, address, port, sslPort, payload, registrationTimeUTC, serviceType, uriSpec, enabled } = instance
  return JSON.stringify({
    name,
    id,
    address: address ?? null,
    port: port ?? null,
    sslPort: sslPort ?? null,
    payload: payload ?? null,
    registrationTimeUTC,
    serviceType,
    uriSpec: uriSpec === undefined ? null : { parts: partsOf(uriSpec) },
    ...(!enabled && { enabled }),
  })
}

/**
 * Throws if the text is not the JSON of an instance. Unknown fields are ignored. `name` and `id` are required. Other missing
 * fields get Curator's defaults.
 */
export function instanceFromJSON(text: string): ServiceInstance {
  const json: unknown = JSON.parse(text)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new TypeError('the JSON of an instance must be an object')
  const fields = json as Readonly<Record<string, unknown>>
  return {
    name: required(fields, 'name', 'string'),
    id: required(fields, 'id', 'string'),
    address: optional(fields, 'address', 'string'),
    port: optional(fields, 'port', 'number'),
    sslPort: optional(fields, 'sslPort', 'number'),
    payload: fields['payload'] ?? undefined,
    registrationTimeUTC: optional(fields, 'registrationTimeUTC', 'number') ?? 0,
    serviceType: (optional(fields, 'serviceType', 'string') ?? 'DYNAMIC') as ServiceType,
    uriSpec: uriSpecOf(fields['uriSpec']),
    enabled: optional(fields, 'enabled', 'boolean') ?? true,
  }
}

interface Types {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
}

function required<Type extends keyof Types>(
  fields: Readonly<Record<string, unknown>>,
  field: string,
  type: Type,
): Types[Type] {
  const value = optional(fields, field, type)
  if (value === undefined) throw new TypeError(`the JSON of an instance must have the field ${field}`)
  return value
}

function optional<Type extends keyof Types>(
  fields: Readonly<Record<string, unknown>>,
  field: string,
  type: Type,
): Types[Type] | undefined {
  const value = fields[field] ?? undefined
  if (value === undefined || typeof value === type) return value as Types[Type] | undefined
  throw new TypeError(`${field} must be a ${type}, not ${JSON.stringify(value)}`)
}

/**
 * The URI of an instance, as Curator builds it: `{scheme}` (`https` if it has a port with TLS, else `http`), `{name}`, `{id}`,
 * `{address}`, `{port}`, `{ssl-port}`, `{registration-time-utc}`, `{service-type}`, and `{[}`, `{]}` for braces. If `variables`
 * has a field of the same name, its value is used. It may have other fields, too. An unknown field is left empty. Without a
 * `uriSpec` the URI is empty.
 */
export function uriOf(instance: ServiceInstance, variables: Readonly<Record<string, string>> = {}): string {
  const { name, id, address, port, sslPort, registrationTimeUTC, serviceType, uriSpec = '' } = instance
  const fields: Readonly<Record<string, string | number | undefined>> = {
    '[': '{',
    ']': '}',
    scheme: sslPort === undefined ? 'http' : 'https',
    name,
    id,
    address,
    port,
    'ssl-port': sslPort,
    'registration-time-utc': registrationTimeUTC,
    'service-type': serviceType.toLowerCase(),
    ...variables,
  }
  // A map, since every object has fields such as `constructor`.
  const values = new Map(Object.entries(fields))
  return partsOf(uriSpec)
    .map(({ value, variable }) => (variable ? String(values.get(value) ?? '') : value))
    .join('')
}

/** Throws a `TypeError` if braces do not match. */
export function partsOf(uriSpec: string): UriPart[] {
  const parts: UriPart[] = []
  for (const [whole, variable, value] of uriSpec.matchAll(/\{([^{}]*)\}|([^{}]+)|[{}]/g)) {
    if (variable === undefined && value === undefined) {
      throw new TypeError(`uriSpec must have pairs of braces that do not nest, not a ${whole} alone: ${uriSpec}`)
    }
    parts.push(variable === undefined ? { value: value!, variable: false } : { value: variable.trim(), variable: true })
  }
  return parts
}

/**
 * The URI as text, with its fields in braces, and other braces as `{[}` and `{]}`; undefined if there is no URI. Throws if Curator's JSON
 * of it has no parts, or a part that this text cannot express. So `uriOf` never throws for an instance that was read.
 */
function uriSpecOf(json: unknown): string | undefined {
  if (json === undefined || json === null) return undefined
  const { parts } = json as { readonly parts?: unknown }
  if (!Array.isArray(parts)) throw new TypeError('uriSpec must have parts')
  return (parts as { readonly value?: unknown; readonly variable?: unknown }[])
    .map(({ value = '', variable }) => {
      if (typeof value !== 'string') throw new TypeError('the value of a part of uriSpec must be a string')
      if (variable !== true) return value.replace(/[{}]/g, (brace) => (brace === '{' ? '{[}' : '{]}'))
      if (/[{}]/.test(value)) throw new TypeError(`a field of uriSpec must have no braces: ${value}`)
      return `{${value}}`
    })
    .join('')
}

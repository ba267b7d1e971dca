import type { ACL, CallOptions, ZooKeeper } from '@zk/client'
import { checkBoolean, madePrintable } from '@zk/client/internal'
import { checkCall, checkGroup, checkName } from './group/checks.ts'
import { reportUnreadable } from './group/diagnostics.ts'
import type { Member } from './group/member.ts'
import type { Membership, MembershipState, UpdateOptions } from './group/membership.ts'
import {
  type InstanceDetails,
  instanceFromJSON,
  instanceToJSON,
  partsOf,
  type ServiceInstance,
} from './group/service-instance.ts'
import { Group } from './group.ts'
import { ifMissing } from './calls/if-missing.ts'
import { retry } from './calls/retry.ts'
import { within } from './calls/wait-limit.ts'

/** An instance whose node cannot be read. */
export interface UnreadableInstance {
  /** The path of its node. */
  readonly path: string
  /** What is wrong: an error of the JSON, or `NoAuth`. */
  readonly error: unknown
}

/** The nodes of the instances, and what becomes of those that cannot be read. */
export interface ServiceDiscoveryOptions {
  /** The rights to the instances' nodes. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
  /**
   * Called for an instance whose node cannot be read, once for each content. Such an instance is left out. It is also logged,
   * and published as `zk:unreadable`.
   */
  onUnreadable?: ((unreadable: UnreadableInstance) => void) | undefined
}

/** An instance that registers. */
export interface NewInstance extends InstanceDetails {
  /** The name of the service. */
  name: string
  /** The id of the instance: one has it at a time. @default a UUID */
  id?: string | undefined
}

/** The limits of a registration. They are those of `Group.join`. */
export interface RegisterOptions {
  /** The longest wait in ms, 0 or more, for servers and for an id that another instance has. @default twice the session timeout */
  timeout?: number | undefined
  /** Ends the wait. It does not end the registration. */
  signal?: AbortSignal | undefined
}

/**
 * Services and their instances, in the layout and the JSON of Curator's x-discovery: JVM services see those that are registered
 * here, and the other way round. The node of an instance is `<path>/<service>/<id>`.
 *
 *     const services = new ServiceDiscovery(zk, '/services')
 *     await using me = await services.register({ name: 'orders', address: '10.0.0.7', port: 8080 })
 *     for await (const instances of services.watch('orders', { signal })) { … }
 */
export class ServiceDiscovery {
  /** The path that was given: the parent of the services. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #options: ServiceDiscoveryOptions
  readonly #readings = new InstanceReader()

  constructor(zk: ZooKeeper, path: string, options: ServiceDiscoveryOptions = {}) {
    checkGroup('new ServiceDiscovery', zk, path, options)
    if (options.onUnreadable !== undefined && typeof options.onUnreadable !== 'function') {
      throw new TypeError('onUnreadable must be a function')
    }
    this.path = path
    this.#zk = zk
    this.#options = { ...options }
  }

  /** Registers an instance, and keeps it registered, as `Group.join` does a member. It rejects as that does. */
  async register(instance: NewInstance, options: RegisterOptions = {}): Promise<Registration> {
    checkCall('register', options)
    const { name, id = this.#zk.runtime.uuid(), ...details } = instance
    checkName('name', name, this.path)
    checkName('id', id, `${this.path}/${name}`)
    const whole = {
      ...described(details),
      name,
      id,
      registrationTimeUTC: this.#zk.runtime.wallNow(),
      serviceType: 'DYNAMIC',
    } as const
    const { acl } = this.#options
    const joining = { name: id, data: instanceToJSON(whole), ...options }
    return new Registration(await new Group(this.#zk, `${this.path}/${name}`, { acl }).join(joining))
  }

  /** The names of the services, sorted. A service whose last instance has gone keeps its name until its container is deleted. */
  async names(options: CallOptions = {}): Promise<string[]> {
    checkCall('names', options)
    const zk = this.#zk
    return await within({ zk, path: this.path }, 'names', options, async (limited) => {
      const listing = (asking: CallOptions) => retry(zk, () => zk.getChildren(this.path, asking), limited.signal)
      const read = await ifMissing(listing, limited, undefined)
      return read?.children.sort() ?? []
    })
  }

  /** The instances of a service, sorted by id; none if the service is not known. See `Group.list`. */
  async instances(name: string, options: CallOptions = {}): Promise<ServiceInstance[]> {
    checkCall('instances', options)
    const members = await this.#group(name).list(options)
    return this.#read(members)
  }

  /** The instances of a service, now and whenever they change, until the signal aborts. It promises what `Group.members` does. */
  async *watch(
    name: string,
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<readonly ServiceInstance[], void, undefined> {
    checkCall('watch', options)
    for await (const members of this.#group(name).members(options)) yield this.#read(members)
  }

  #group(name: string): Group {
    checkName('name', name, this.path)
    return new Group(this.#zk, `${this.path}/${name}`)
  }

  #read(members: readonly Member[]): ServiceInstance[] {
    return members.flatMap(
      (member) => this.#readings.read(member, (error) => this.#tellUnreadable(member, error)) ?? [],
    )
  }

  #tellUnreadable({ path: node }: Member, error: unknown): void {
    reportUnreadable(this.#zk, { path: this.path, node, error })
    const { onUnreadable } = this.#options
    // In a turn of its own: an error that it throws is uncaught, and stops no reading.
    if (onUnreadable !== undefined) queueMicrotask(() => onUnreadable({ path: node, error }))
  }
}

/** Reads the JSON of instances, and remembers which unreadable nodes it has reported. */
class InstanceReader {
  /** The last transaction that wrote them, by path. */
  readonly #reported = new Map<string, bigint>()

  read({ path, text, mzxid, error }: Member, report: (error: unknown) => void): ServiceInstance | undefined {
    try {
      if (error !== undefined) throw error
      const instance = instanceFromJSON(text)
      this.#reported.delete(path)
      return instance
    } catch (problem) {
      if (this.#reported.get(path) !== mzxid) report(madePrintable(problem))
      this.#reported.set(path, mzxid)
      return undefined
    }
  }
}

/** An instance that is registered, until `leave`. */
export class Registration implements AsyncDisposable {
  readonly #membership: Membership

  /** @internal */
  constructor(membership: Membership) {
    this.#membership = membership
  }

  /** What is registered. */
  get instance(): ServiceInstance {
    return instanceFromJSON(new TextDecoder().decode(this.#membership.data))
  }

  /** The path of the instance's node. */
  get path(): string {
    return this.#membership.path
  }

  /** How it stands now: see `Membership.state`. */
  get state(): MembershipState {
    return this.#membership.state
  }

  /** Aborts when the registration ends. Its reason is a `MembershipLostError`. */
  get signal(): AbortSignal {
    return this.#membership.signal
  }

  /** See `Membership.states`. */
  states(options: Pick<CallOptions, 'signal'> = {}): AsyncGenerator<MembershipState, void, undefined> {
    return this.#membership.states(options)
  }

  /** Changes the fields that are given, and leaves the others. It settles as `Membership.update` does. */
  async update(changes: InstanceDetails, options: UpdateOptions = {}): Promise<void> {
    const { name, id, registrationTimeUTC, serviceType, ...before } = this.instance
    const next = { ...described({ ...before, ...changes }), name, id, registrationTimeUTC, serviceType }
    await this.#membership.update(instanceToJSON(next), options)
  }

  /** For logs. */
  toJSON(): object {
    const { path, state } = this
    return { path, state }
  }

  /** Ends the registration: see `Membership.leave`. */
  async leave(): Promise<void> {
    await this.#membership.leave()
  }

  /** As `leave`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave()
  }
}

const detailNames: ReadonlySet<string> = new Set(['address', 'port', 'sslPort', 'payload', 'uriSpec', 'enabled'])

/** Checks the fields, and fills in the defaults. */
function described(
  details: InstanceDetails,
): Omit<ServiceInstance, 'name' | 'id' | 'registrationTimeUTC' | 'serviceType'> {
  const unknown = Object.keys(details).filter((key) => !detailNames.has(key))
  if (unknown.length > 0) {
    throw new TypeError(
      `an instance has no field ${unknown.join(', ')}; it has name, id, ${[...detailNames].join(', ')}`,
    )
  }
  const { address, port, sslPort, payload, uriSpec, enabled = true } = details
  if (address !== undefined && typeof address !== 'string') throw new TypeError('address must be a string')
  for (const [field, value] of Object.entries({ port, sslPort })) {
    if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= 65_535)) continue
    throw new RangeError(`${field} must be an integer from 0 to 65535, not ${String(value)}`)
  }
  if (uriSpec !== undefined && typeof uriSpec !== 'string') throw new TypeError('uriSpec must be a string')
  checkBoolean('enabled', enabled)
  if (uriSpec !== undefined) partsOf(uriSpec)
  return { address, port, sslPort, payload, uriSpec, enabled }
}

import type { ACL, CallOptions, WaitOptions, WatchIterator, ZooKeeper } from '@zk/client'
import { checkBoolean, madePrintable } from '@zk/client/internal'
import { checkCall, checkGroup, checkName } from '../group/checks.ts'
import { reportUnreadable } from '../group/diagnostics.ts'
import { listMembers, type Member, type MembersFolder } from '../group/member.ts'
import type { Membership } from '../group/membership.ts'
import type { MembershipState } from '../group/membership-state.ts'
import {
  type InstanceDetails,
  instanceFromJSON,
  instanceToJSON,
  partsOf,
  type ServiceInstance,
} from './service-instance.ts'
import { WatchedMembers } from '../group/watched-members.ts'
import { FreshValues, watchValues } from '../kernel/watch-values.ts'
import { Group } from '../group/group.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { retry } from '../kernel/retry.ts'
import { within } from '../kernel/limit.ts'
import { memoized } from '../kernel/memoized.ts'

/** An instance whose node cannot be read. */
export interface UnreadableInstance {
  /** The path of its node. */
  readonly path: string
  /** What is wrong: an error of the JSON, or `NoAuth`. */
  readonly error: unknown
}

/** The nodes of the instances, and what happens to nodes that cannot be read. */
export interface ServiceDiscoveryOptions {
  /**
   * The ACL of the instances' nodes, and of the nodes above them that are missing. It must grant READ, CREATE and DELETE to all
   * programs that register. Nodes that exist keep their ACL.
   * @default OPEN_ACL_UNSAFE
   */
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
  /** The id of the instance: one instance has it at a time. @default a UUID */
  id?: string | undefined
}

/**
 * Services and their instances, in the layout and the JSON of Curator's x-discovery: JVM services see the instances that are
 * registered here, and vice versa. The node of an instance is `<path>/<service>/<id>`.
 *
 *     const services = new ServiceDiscovery(zk, '/services')
 *     await using me = await services.register({ name: 'orders', address: '10.0.0.7', port: 8080 })
 *     for await (const instances of services.watchInstances('orders', { signal })) { … }
 */
export class ServiceDiscovery {
  /** The path passed to the constructor: the parent of the services. */
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

  /**
   * Registers an instance, and keeps it registered, as `Group.join` does a member. It rejects like `join`. `timeout` limits the wait for
   * servers, and for an id that another instance has, to twice the session timeout by default. The signal does not end the
   * registration.
   */
  async register(instance: NewInstance, options: WaitOptions = {}): Promise<Registration> {
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

  /** The instances of a service, sorted by id; none if the service is not known. See `Group.members`. */
  async instances(name: string, options: CallOptions = {}): Promise<ServiceInstance[]> {
    checkCall('instances', options)
    const folder = this.#folder(name)
    return this.#read(folder, await listMembers(folder, options, this.#readings.notice))
  }

  /**
   * The instances of a service, now and whenever they change. When the signal aborts, it ends without an error. It makes the
   * same promises as `Group.watchMembers`.
   */
  watchInstances(name: string, options: Pick<WaitOptions, 'signal'> = {}): WatchIterator<readonly ServiceInstance[]> {
    return watchValues(options, (signal) => {
      checkCall('watchInstances', options)
      const folder = this.#folder(name)
      const members = new FreshValues(new WatchedMembers(folder, signal, this.#readings.notice), signal)
      return {
        next: async () => this.#read(folder, await members.next()),
        get isStale() {
          return members.isStale
        },
        stop: () => members.stop(),
      }
    })
  }

  #folder(name: string): MembersFolder {
    checkName('name', name, this.path)
    return { zk: this.#zk, path: `${this.path}/${name}` }
  }

  #read({ path }: MembersFolder, members: readonly Member[]): ServiceInstance[] {
    return this.#readings.read(path, members, (member, error) => this.#tellUnreadable(member, error))
  }

  #tellUnreadable({ path: node }: Member, error: unknown): void {
    reportUnreadable(this.#zk, { path: this.path, node, error })
    const { onUnreadable } = this.#options
    // In a turn of its own: an error that it throws is uncaught, and does not stop the reading.
    if (onUnreadable !== undefined) queueMicrotask(() => onUnreadable({ path: node, error }))
  }
}

/** The content of a member's node. */
type Reading = { readonly instance: ServiceInstance } | { readonly error: unknown }

/** Reads the JSON of instances, and remembers which unreadable nodes it has reported. */
class InstanceReader {
  readonly #readings = new WeakMap<Member, Reading>()
  /** For each service, the unreadable nodes of its last list: by path, the transaction that last wrote the node. */
  readonly #reported = new Map<string, ReadonlyMap<string, bigint>>()

  /** Reads a member before its list is complete: parsing the JSON of 100,000 at once would take a quarter of a second. */
  readonly notice = (member: Member): void => void this.#reading(member)

  /** The instances of a service. `report` is called for each unreadable instance that was not in the last list with this content. */
  read(
    service: string,
    members: readonly Member[],
    report: (member: Member, error: unknown) => void,
  ): ServiceInstance[] {
    const before = this.#reported.get(service)
    const unreadable = new Map<string, bigint>()
    const instances: ServiceInstance[] = []
    for (const member of members) {
      const reading = this.#reading(member)
      if ('instance' in reading) {
        instances.push(reading.instance)
        continue
      }
      const { path, mzxid } = member
      unreadable.set(path, mzxid)
      if (before?.get(path) !== mzxid) report(member, reading.error)
    }
    if (unreadable.size > 0) this.#reported.set(service, unreadable)
    else this.#reported.delete(service)
    return instances
  }

  #reading(member: Member): Reading {
    return memoized(this.#readings, member, () => readingOf(member))
  }
}

function readingOf({ text, error }: Member): Reading {
  if (error !== undefined) return { error }
  try {
    return { instance: instanceFromJSON(text) }
  } catch (problem) {
    return { error: madePrintable(problem) }
  }
}

/** An instance that is registered, until `release`. */
export class Registration implements AsyncDisposable {
  readonly #membership: Membership

  /** @internal */
  constructor(membership: Membership) {
    this.#membership = membership
  }

  /** What is registered. */
  get instance(): ServiceInstance {
    return instanceOf(this.#membership.data)
  }

  /** The path of the instance's node. */
  get path(): string {
    return this.#membership.path
  }

  /** The current state: see `Membership.state`. */
  get state(): MembershipState {
    return this.#membership.state
  }

  /** Aborts when the registration ends. Its reason is a `LostError`. */
  get signal(): AbortSignal {
    return this.#membership.signal
  }

  /** See `Membership.watchState`. */
  watchState(options: Pick<WaitOptions, 'signal'> = {}): WatchIterator<MembershipState> {
    return this.#membership.watchState(options)
  }

  /** Changes the given fields, and leaves the others. It settles as `Membership.update` does. */
  async update(changes: InstanceDetails, options: WaitOptions = {}): Promise<void> {
    const copied = copyOf(changes)
    const change = (before: Uint8Array): Uint8Array => {
      const { name, id, registrationTimeUTC, serviceType, ...details } = instanceOf(before)
      const next = { ...described({ ...details, ...copied }), name, id, registrationTimeUTC, serviceType }
      return new TextEncoder().encode(instanceToJSON(next))
    }
    await this.#membership.change(change, options)
  }

  /** For logs. */
  toJSON(): object {
    const { path, state } = this
    return { path, state }
  }

  /** Ends the registration: see `Membership.release`. */
  async release(): Promise<void> {
    await this.#membership.release()
  }

  /** Like `release`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}

function instanceOf(data: Uint8Array): ServiceInstance {
  return instanceFromJSON(new TextDecoder().decode(data))
}

/** Checks the fields. The caller may change the payload later. */
function copyOf(changes: InstanceDetails): InstanceDetails {
  described(changes)
  const { payload } = changes
  return payload === undefined ? { ...changes } : { ...changes, payload: JSON.parse(JSON.stringify(payload) ?? 'null') }
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

import { type ServerVersion, type TestMember, type VirtualEnsemble, VirtualWorld } from '@zk/testing'
import { addressSeenBy, type Place, places, settings, type Stage, type Target } from '../play/index.ts'

/** How often it is checked whether the members serve, in ms. */
const CHECK_INTERVAL = 10

/** The ensemble of @zk/testing in virtual time. Each scenario gets a new one. */
export class VirtualTarget implements Target {
  readonly #prepare: (ensemble: VirtualEnsemble) => void
  readonly #version: ServerVersion
  readonly #memberCount: number

  /** `prepare` may change each ensemble before its use. Members know the operations of the last release of `version`. */
  constructor(prepare: (ensemble: VirtualEnsemble) => void = () => {}, version: ServerVersion = '3.8', members = 3) {
    this.#prepare = prepare
    this.#version = version
    this.#memberCount = members
  }

  use<Result>(play: (stage: Stage) => Promise<Result>): Promise<Result> {
    const { superUser: _, ...options } = settings
    const world = new VirtualWorld({
      ...options,
      members: this.#memberCount,
      version: this.#version,
      enforceQuota: options.enforceQuota && this.#version !== '3.5' && this.#version !== '3.6',
    })
    this.#prepare(world.ensemble)
    return world.run(() => play(new VirtualStage(world)))
  }
}

class VirtualStage implements Stage {
  readonly base = ''
  readonly superUser = settings.superUser
  readonly runtime: VirtualWorld['runtime']
  readonly #world: VirtualWorld
  /** The members, in the order of `places`. */
  readonly #members: readonly TestMember[]

  constructor(world: VirtualWorld) {
    const { leader, members } = world.ensemble
    this.runtime = world.runtime
    this.#world = world
    this.#members = members.toSorted((a, b) => Number(b === leader) - Number(a === leader))
  }

  clientAddress(): Promise<string> {
    return addressSeenBy(this.address('leader'), this.runtime)
  }

  address(place: Place): { readonly host: string; readonly port: number } {
    const [host = '', port = ''] = this.#member(place).address.split(':')
    return { host, port: Number(port) }
  }

  async kill(place: Place): Promise<void> {
    this.#member(place).kill()
  }

  async restart(place: Place): Promise<void> {
    this.#member(place).restart()
  }

  async freeze(place: Place): Promise<void> {
    this.#member(place).freeze()
  }

  async thaw(place: Place): Promise<void> {
    this.#member(place).thaw()
  }

  async elected(): Promise<void> {
    while (!this.#world.ensemble.isServing) await this.#world.elapse(CHECK_INTERVAL)
  }

  async mended(): Promise<void> {
    for (const member of this.#members) {
      member.thaw()
      member.restart()
    }
    await this.elected()
  }

  /** With fewer members than places, the last one has several places. */
  #member(place: Place): TestMember {
    return this.#members[Math.min(places.indexOf(place), this.#members.length - 1)]!
  }
}

import { createHash } from 'node:crypto'
import {
  type ServerRelease,
  type TestMember,
  type VirtualEnsemble,
  VirtualWorld,
  type VirtualWorldOptions,
} from '@zk/testing'
import { generateDigest } from '@zk/wire'
import { isBefore } from '../releases/index.ts'
import { addressSeenBy, type Place, places, settings, type Stage, type Target } from '../play/index.ts'

/** How often it is checked whether the members serve, in ms. */
const CHECK_INTERVAL = 10

/** The ensemble that is made for each use. */
export interface VirtualTargetOptions {
  /** The release of the members, such as `3.8.7`. @default '3.9' */
  release?: string | undefined
  /** How many members there are. One is a standalone server. @default 3 */
  members?: number | undefined
  /** Makes the world. @default a `VirtualWorld` */
  newWorld?: ((options: VirtualWorldOptions) => VirtualWorld) | undefined
  /** May change each ensemble before its use. @default nothing */
  prepare?: ((ensemble: VirtualEnsemble) => void) | undefined
  /** Name and password of the superuser; the name is `super`. @default that of `settings` */
  superUser?: string | undefined
  /** Settings that only some clauses need. */
  more?: Pick<VirtualWorldOptions, 'sasl' | 'reconfigEnabled' | 'readOnlyMode'> | undefined
}

/** The ensemble of @zk/testing in virtual time. Each scenario gets a new one. */
export class VirtualTarget implements Target {
  readonly #options: VirtualTargetOptions

  constructor(options: VirtualTargetOptions = {}) {
    this.#options = options
  }

  /** Makes an ensemble, and plays in its virtual time. */
  use<Result>(play: (stage: Stage) => Promise<Result>): Promise<Result> {
    const { superUser: usualUser, ...options } = settings
    const { release = '3.9', members = 3, newWorld = usualWorld, prepare, superUser = usualUser, more } = this.#options
    const world = newWorld({
      ...options,
      superDigest: generateDigest(superUser, sha1),
      ...more,
      members,
      release: release as ServerRelease,
      enforceQuota: options.enforceQuota && !isBefore(release, '3.7'),
    })
    prepare?.(world.ensemble)
    return world.run(() => play(new VirtualStage(world, superUser, more?.sasl)))
  }
}

const sha1 = (bytes: Uint8Array): Uint8Array => createHash('sha1').update(bytes).digest()
const usualWorld = (options: VirtualWorldOptions): VirtualWorld => new VirtualWorld(options)

class VirtualStage implements Stage {
  readonly base = ''
  readonly superUser: string
  readonly saslUser: string | undefined
  readonly runtime: VirtualWorld['runtime']
  readonly #world: VirtualWorld
  /** The members, in the order of `places`. */
  readonly #members: readonly TestMember[]

  constructor(world: VirtualWorld, superUser: string, sasl: VirtualWorldOptions['sasl']) {
    const { leader, members } = world.ensemble
    this.saslUser = Object.entries(sasl?.users ?? {})[0]?.join(':')
    this.superUser = superUser
    this.runtime = world.runtime
    this.#world = world
    this.#members = members.toSorted((a, b) => Number(b === leader) - Number(a === leader))
  }

  clientAddress(): Promise<string | undefined> {
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

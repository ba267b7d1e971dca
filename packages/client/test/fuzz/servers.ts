// The servers of a case: the ensemble of @zk/testing, the nodes that a user asks for, and what others do to them.
import { createHash } from 'node:crypto'
import { VirtualWorld } from '@zk/testing'
import { pick, type SeededRandom } from '../support/index.ts'
import { WATCHED } from './calls.ts'

export const USER = { username: 'user', password: 'secret' }
export const SUPERUSER = 'super:secret'
export const CONFIG = '/zookeeper/config'
const SUPER_DIGEST = `super:${createHash('sha1').update(SUPERUSER).digest('base64')}`
/** Errors that any operation may be answered with. */
const ERRORS = ['NoNode', 'NoAuth', 'BadVersion', 'NodeExists', 'ThrottledOp'] as const
/** Sizes of data, in bytes: mostly short, so that mutations hit what stands around it; now and then in several segments. */
const SIZES = [0, 20, 20, 20, 20, 100, 100, 100, 100, 500, 500, 1_000, 5_000]
const LONG = 60_000
const LONG_ONE_IN = 200

export type Change = 'data' | 'children' | 'deletion'

export class Servers {
  readonly world: VirtualWorld
  readonly #random: SeededRandom
  readonly #chroot: string
  #children = 0

  constructor(seed: number, random: SeededRandom, chroot: string) {
    this.#random = random
    this.#chroot = chroot
    this.world = new VirtualWorld({
      seed,
      // Several members take twice the time of one.
      members: pick(random, [1, 1, 1, 3]),
      release: pick(random, ['3.8', '3.9']),
      tickTime: 1_500,
      turns: 32,
      maxSessionTimeout: 30_000,
      extendedTypesEnabled: true,
      reconfigEnabled: true,
      superDigest: SUPER_DIGEST,
      sasl: { users: { [USER.username]: USER.password } },
      history: { entries: 0 },
    })
    for (const path of WATCHED) this.#create(path)
  }

  /** What a client connects to: the address of one server, or of more. */
  get connectString(): string {
    const addresses = this.world.connectString.split(',')
    return addresses.slice(0, 1 + this.#random.below(addresses.length)).join(',') + this.#chroot
  }

  /** For a while they may refuse connections, expire sessions and fail requests. */
  trouble(): void {
    const { ensemble } = this.world
    this.#be(this.#random.below(10) === 0 ? 'refuse' : 'accept')
    if (this.#random.below(30) === 0) for (const { id } of ensemble.sessions.list()) ensemble.sessions.expire(id)
    const times = 1 + this.#random.below(4)
    if (this.#random.below(3) === 0) ensemble.faults.fail({ path: '/', code: pick(this.#random, ERRORS), times })
  }

  heal(): void {
    this.#be('accept')
    this.world.ensemble.faults.clear()
  }

  /** The node of a call, and some children. */
  prepare(path: string): void {
    this.#create(path)
    for (const child of ['c', 'd', path.slice(1)]) if (this.#random.below(3) === 0) this.#create(`${path}/${child}`)
  }

  /** Something happens to a watched node, or to the configuration. */
  change(path: string, what: Change): void {
    const { nodes } = this.world.ensemble
    const absolute = this.#absolute(path)
    if (path === CONFIG) return nodes.setData(path, nodes.get(path)!.data)
    this.#create(path)
    // Short, so that every client takes it.
    if (what === 'data') nodes.setData(absolute, path)
    else if (what === 'children') this.#create(`${path === '/' ? '' : path}/new-${++this.#children}`)
    else if (path !== '/') nodes.delete(absolute)
  }

  /** The data begins with the path. */
  #create(path: string): void {
    const absolute = this.#absolute(path)
    const { nodes } = this.world.ensemble
    const size = this.#random.below(LONG_ONE_IN) === 0 ? LONG : pick(this.#random, SIZES)
    if (nodes.get(absolute) === undefined) nodes.create(absolute, { data: path.padEnd(size, '.') })
  }

  #absolute(path: string): string {
    return this.#chroot + (path === '/' && this.#chroot !== '' ? '' : path)
  }

  #be(what: 'refuse' | 'accept'): void {
    for (const member of this.world.ensemble.members) member[what]()
  }
}

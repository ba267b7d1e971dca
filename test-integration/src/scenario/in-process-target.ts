import { type ServerVersion, TestEnsemble, type TestMember } from '@zk/testing'
import { type Place, places, settings, type Stage, type Target } from './target.ts'

/** Servers in this process. Each scenario gets new ones. */
export class InProcessTarget implements Target {
  readonly name = 'in-process'
  readonly #prepare: (ensemble: TestEnsemble) => void
  readonly #version: ServerVersion

  /** `prepare` may change each ensemble before its use. Members know the operations of the last release of `version`. */
  constructor(prepare: (ensemble: TestEnsemble) => void = () => {}, version: ServerVersion = '3.8') {
    this.#prepare = prepare
    this.#version = version
  }

  async enter(): Promise<Stage> {
    const { superUser: _, ...options } = settings
    const ensemble = await TestEnsemble.start({
      members: 3,
      version: this.#version,
      watchModes: this.#version === '3.9' ? 'several' : 'one',
      ...options,
      enforceQuota: options.enforceQuota && this.#version !== '3.5' && this.#version !== '3.6',
    })
    this.#prepare(ensemble)
    return new InProcessStage(ensemble)
  }
}

class InProcessStage implements Stage {
  readonly #ensemble: TestEnsemble
  /** The members, in the order of `places`. */
  readonly #members: readonly TestMember[]

  constructor(ensemble: TestEnsemble) {
    this.#ensemble = ensemble
    this.#members = ensemble.members.toSorted((a, b) => Number(b === ensemble.leader) - Number(a === ensemble.leader))
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
    await this.#ensemble.serving()
  }

  async mended(): Promise<void> {
    for (const member of this.#members) {
      member.thaw()
      member.restart()
    }
    await this.#ensemble.serving()
  }

  leave(): Promise<void> {
    return this.#ensemble.close()
  }

  #member(place: Place): TestMember {
    return this.#members[places.indexOf(place)]!
  }
}

import { CreateMode, OpCode } from '@zk/wire'
import { open, type Scenario, type Session } from '../play/index.ts'
import { unreadableLimits } from '../releases/index.ts'
import { group } from './group.ts'

const data = (length: number) => 'x'.repeat(length)

/** A node of the scenario whose quota is at these paths, which only a session that sees all nodes can reach. */
class Quota {
  readonly #all: Session
  readonly #paths: readonly string[]
  readonly #limits: string
  readonly #stats: string

  static async of(s: Scenario, path: string): Promise<Quota> {
    return new Quota(await s.open({ isBelowRoot: false }), `${s.root}${path}`)
  }

  private constructor(all: Session, path: string) {
    const names = path.split('/').slice(1)
    this.#all = all
    this.#paths = names.map((_, index) => `/zookeeper/quota/${names.slice(0, index + 1).join('/')}`)
    this.#limits = `/zookeeper/quota${path}/zookeeper_limits`
    this.#stats = `/zookeeper/quota${path}/zookeeper_stats`
  }

  async set(limits: string): Promise<void> {
    for (const path of this.#paths) await this.#all.create(path)
    await this.#all.create(this.#limits, { data: limits })
    await this.#all.create(this.#stats, { data: '' })
    await this.record()
  }

  async change(limits: string): Promise<void> {
    await this.#all.setData(this.#limits, limits)
  }

  async record(): Promise<void> {
    await this.#all.getData(this.#stats)
  }

  async remove(): Promise<void> {
    for (const path of [this.#limits, this.#stats, ...this.#paths.toReversed()]) await this.#all.delete(path)
    await this.#all.close()
  }
}

export const quotas = group('quotas', {
  'the subtree of a node is counted from the moment it has limits': async (s) => {
    const a = await s.open()
    await a.create('/q', { data: data(3) })
    await a.create('/q/one', { data: data(5) })
    await a.create('/queue', { data: data(7) })
    const quota = await Quota.of(s, '/q')
    await quota.set('count=3,bytes=10')
    await a.create('/q/two', { data: data(20) })
    await quota.record()
    await a.setData('/q/one', data(1))
    await a.create('/q/one/deep', { flags: CreateMode.EPHEMERAL, data: null })
    await quota.record()
    await a.multi(
      { type: OpCode.delete, request: { path: '/q/two', version: -1 } },
      { type: OpCode.setData, request: { path: '/q', data: new Uint8Array(9), version: -1 } },
    )
    await quota.record()
    await a.close()
    await s.settle()
    await quota.record()
    await quota.remove()
  },

  'a hard limit of nodes refuses to create one more': async (s) => {
    const a = await s.open()
    await a.create('/q')
    const quota = await Quota.of(s, '/q')
    await quota.set('count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=3')
    for (const name of ['one', 'two', 'three']) await a.create(`/q/${name}`)
    await a.create('/q/n-', { flags: CreateMode.PERSISTENT_SEQUENTIAL })
    await a.create('/q/one')
    await a.create('/q/none/child')
    await a.create('/beside')
    await a.setData('/q/one', data(1_000))
    await quota.record()
    await a.delete('/q/two')
    await a.create('/q/c', { op: 'createContainer', flags: CreateMode.CONTAINER })
    await a.create('/q/three')
    await quota.change('count=-1,bytes=-1=;countHardLimit=4')
    await a.create('/q/three')
    await quota.record()
    await quota.remove()
    await a.create('/q/four')
    await a.close()
  },

  'a hard limit of bytes refuses data that is too long, before the version is checked': async (s) => {
    const a = await s.open()
    await a.create('/q')
    await a.create('/q/one', { data: data(4) })
    const quota = await Quota.of(s, '/q')
    await quota.set('count=-1,bytes=-1=;byteHardLimit=10')
    await a.setData('/q/one', data(10))
    await a.setData('/q/one', data(11))
    await a.setData('/q/one', data(11), 7)
    await a.setData('/q/one', data(9), 7)
    await a.create('/q/two', { data: data(1) })
    await a.create('/q/two')
    await a.setData('/q/one', data(2))
    await a.create('/q/three', { data: data(8) })
    await a.create('/q/four', { data: data(1) })
    await quota.change('count=-1,bytes=-1=;byteHardLimit=1')
    await a.setData('/q/three', data(7))
    await a.setData('/q/three', data(8))
    await quota.record()
    await quota.remove()
    await a.close()
  },

  'a multi beyond a limit fails as a whole, but its own additions do not count': async (s) => {
    const a = await s.open()
    await a.create('/q')
    const quota = await Quota.of(s, '/q')
    await quota.set('count=-1,bytes=-1=;countHardLimit=2')
    const create = (path: string) => ({ type: OpCode.create, request: { path, data: null, acl: open, flags: 0 } })
    await a.multi(create('/beside'), create('/q/one'), create('/q/two'))
    await quota.record()
    await a.multi(create('/another'), create('/q/three'))
    await a.exists('/another')
    await quota.record()
    await quota.remove()
    await a.close()
  },

  'limits that are no numbers refuse every request that they apply to': {
    halts: unreadableLimits,
    play: async (s) => {
      const a = await s.open()
      await a.create('/q')
      const quota = await Quota.of(s, '/q')
      await quota.set('countHardLimit=2')
      for (const limits of ['count', 'count=', 'count=x', ',count=1', 'count=1,,bytes=2;', '']) {
        await quota.change(limits)
        await a.create('/q/n-', { flags: CreateMode.PERSISTENT_SEQUENTIAL })
        await a.setData('/q', data(1))
        await a.delete('/q', 7)
      }
      await quota.record()
      await quota.remove()
      await a.close()
    },
  },
})

// What is granted beside something else has the lease of the session's last sync: its member is cut off before another round.
import { expect, test } from 'vitest'
import { connect, Lock, type ZooKeeper } from '../../src/index.ts'
import { outcome, SeededRandom } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

// Hundreds of histories.
const T = 4_000
const SEEDS = 150

interface History {
  /** Whether the later one was granted without a sync of its own. */
  readonly inherited: boolean
  /** Whether it was held still when the next was granted. */
  readonly overlaps: boolean
}

async function history(seed: number, cut: 'follower' | 'leader'): Promise<History> {
  const random = new SeededRandom(seed)
  const scene = new Scene({ members: 3, seed })
  const { ensemble, world, network } = scene
  const leader = ensemble.leader!
  const [follower, third] = ensemble.members.filter((member) => member !== leader)
  const mine = cut === 'leader' ? leader : follower!
  const zk = await clientOf(scene, mine)
  const other = await clientOf(scene, third!)
  network.latency = () => random.below(10)
  await world.advance(random.below(T))
  const first = outcome(new Lock(zk, '/locks/first').acquire())
  await world.advance(100 + random.below(2 * T))
  const since = scene.since()
  const acquiring = outcome(new Lock(zk, '/locks/later').acquire())
  await world.advance(60)
  const held = acquiring.value
  const inherited = !since.ops().includes('sync')
  let wasHeld: boolean | undefined
  void new Lock(other, '/locks/later').acquire().then(() => (wasHeld = held.isHeld()))
  await world.advance(random.below(100))
  expect([first.value.isHeld(), held.isHeld()]).toEqual([true, true])
  ensemble.network.isolate(mine)
  for (let time = 0; time < 30_000 && wasHeld === undefined; time += 100) await world.advance(100)
  expect(wasHeld).toBeDefined()
  return { inherited, overlaps: wasHeld! }
}

/** A client that knows only this member. */
function clientOf(scene: Scene, { address }: { readonly address: string }): Promise<ZooKeeper> {
  return scene.done(connect(address, { runtime: scene.world, sessionTimeout: T }))
}

test.each([
  ['a follower cut off from its leader', 'L31', 'follower'],
  ['a leader cut off with a minority', 'L32', 'leader'],
] as const)(
  'Held whose lease is that of the last sync is over before another is granted, over %s (%s)',
  async (_, __, cut) => {
    const histories: History[] = []
    for (let seed = 1; seed <= SEEDS; seed++) histories.push(await history(seed, cut))
    expect(histories.filter(({ overlaps }) => overlaps)).toEqual([])
    expect(histories.filter(({ inherited }) => inherited).length).toBeGreaterThan(SEEDS / 2)
  },
)

// R08, R14: Curator's downgrade makes a reader with a uuid of its own and the writer's number, and then deletes the writer.
import { describe, expect, test } from 'vitest'
import { type Held, SharedLock, type ZooKeeper } from '../../src/index.ts'
import type { Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/catalogue'
const writers = `${PATH}/_c_64a1d9f2-3c07-4f0e-9d43-0b1a7c55e2f8-__WRIT__0000000001`
const readers = `${PATH}/_c_0b7e3c11-90ab-4b5e-8f57-2f6de1a5c0d4-__READ__0000000001`

interface Started {
  readonly scene: Scene
  readonly clients: readonly ZooKeeper[]
}

/** A path that has numbered two children; Curator's client is the first. */
async function started(): Promise<Started> {
  const scene = new Scene()
  const clients = await scene.clients(4)
  scene.ensemble.nodes.create(PATH)
  scene.ensemble.nodes.presetCounter(PATH, 2)
  return { scene, clients }
}

function make({ scene, clients }: Started, path: string): Promise<unknown> {
  return scene.done(clients[0]!.create(path, '', { mode: 'EPHEMERAL' }))
}

function acquire({ scene, clients }: Started, client: number, kind: 'read' | 'write'): Promise<Outcome<Held>> {
  return scene.start(new SharedLock(clients[client]!, PATH)[kind].acquire())
}

describe('SharedLock.write behind a writer of Curator that goes on as a reader', () => {
  test('SharedLock.write waits for both nodes when its first list has both', async () => {
    for (const first of [writers, readers]) {
      const story = await started()
      const { scene } = story
      await make(story, writers)
      await make(story, readers)
      const ours = await acquire(story, 1, 'write')
      scene.ensemble.nodes.delete(first)
      await scene.world.settle()
      expect(ours.status).toBe('pending')
      scene.ensemble.nodes.delete(first === writers ? readers : writers)
      await scene.world.settle()
      expect(ours.value.isHeld()).toBe(true)
    }
  })

  test('SharedLock.write waits for the reader that comes while it waits, also when a later list has both nodes', async () => {
    const story = await started()
    const { scene, clients } = story
    await make(story, writers)
    // Another one right before ours: when it goes, ours looks again.
    const before = await acquire(story, 1, 'write')
    const ours = await acquire(story, 2, 'write')
    await make(story, readers)
    const [between] = scene.ensemble.nodes.ephemerals(clients[1]!.session.id)
    scene.ensemble.nodes.delete(between!)
    await scene.world.settle()
    scene.ensemble.nodes.delete(writers)
    await scene.world.advance(1_000)
    expect([before.status, ours.status]).toEqual(['pending', 'pending'])
    scene.ensemble.nodes.delete(readers)
    await scene.world.settle()
    expect(ours.value.isHeld()).toBe(true)
    await scene.done(ours.value.release())
    expect(before.value.isHeld()).toBe(true)
  })

  test('SharedLock.read does not wait for a reader that took the place of a writer', async () => {
    const story = await started()
    const { scene } = story
    await make(story, writers)
    const ours = await acquire(story, 1, 'read')
    await make(story, readers)
    expect(ours.status).toBe('pending')
    scene.ensemble.nodes.delete(writers)
    await scene.world.settle()
    expect(ours.value.isHeld()).toBe(true)
  })

  test('SharedLock.contenders has the reader in the place of its writer', async () => {
    const story = await started()
    const { scene, clients } = story
    await make(story, writers)
    await acquire(story, 1, 'write')
    await make(story, readers)
    const contenders = await scene.done(new SharedLock(clients[2]!, PATH).contenders())
    expect(contenders.map(({ kind, position }) => [kind, position])).toEqual([
      ['write', 0],
      ['read', 1],
      ['write', 2],
    ])
  })

  test("SharedLock.write's own downgrade has the number that Curator goes by", async () => {
    const story = await started()
    const { scene, clients } = story
    const write = await scene.done(new SharedLock(clients[1]!, PATH).write.acquire())
    const read = await scene.done(write.downgrade())
    // LockInternals sorts by what is behind the marker, whatever uuid is before it.
    expect([write.path, read.path].map((path) => path.split('-').at(-1))).toEqual([
      '__WRIT__0000000002',
      '__READ__0000000002',
    ])
    await scene.done(read.release())
    expect(scene.leftovers()).toEqual(nothing)
  })
})

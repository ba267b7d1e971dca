// L29: what contending in a crowd costs, and how large it may be.
import { describe, expect, test } from 'vitest'
import { type Held, Lock } from '../../src/index.ts'
import { PATH, queued } from '../support/every-recipe.ts'
import { LAST } from '../support/counters.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import { turns } from '../support/turns.ts'

/** Contenders of other programs, ahead of ours. */
const CROWD = 2_000
/** They ask about each other, one by one. */
const ALIKE = 400
const OURS = 10
/** Their list is above 1 MiB: ZooKeeper's own clients take no longer reply, unless jute.maxbuffer is raised. */
const LARGE_CROWD = 20_000
const MiB = 1024 * 1024

/** The path with a crowd of this kind; the last number is given. */
function crowded(marker: string, first: number, crowd = CROWD): Scene {
  const scene = new Scene()
  const { nodes } = scene.ensemble
  nodes.create(PATH)
  for (let each = 0; each < crowd; each++) {
    const uuid = `00000000-0000-4000-8000-${String(crowd - each).padStart(12, '0')}`
    nodes.create(`${PATH}/_c_${uuid}-${marker}${String(Math.min(first + each, LAST)).padStart(10, '0')}`)
  }
  nodes.presetCounter(PATH, Math.min(first + crowd, LAST))
  return scene
}

function paths(scene: Scene): string[] {
  return scene.children(PATH).map((name) => `${PATH}/${name}`)
}

/** How often each is in the list. */
function counts(ops: readonly (string | undefined)[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const op of ops) counted[op ?? ''] = (counted[op ?? ''] ?? 0) + 1
  return counted
}

describe.each(queued.filter(({ isExclusive }) => isExclusive))(
  '$name in a crowd',
  ({ name, make, contenders: { marker } }) => {
    test.each<[crowd: number, string, number, object]>([
      [CROWD, 'asks three times', 0, {}],
      [
        ALIKE,
        'asks once about each where the counter is used up',
        LAST,
        { exists: ALIKE * OURS + (OURS * (OURS - 1)) / 2 },
      ],
    ])(
      `${name} behind %i others %s, waits for one, and is handed over at the same cost as ever (L29)`,
      async (crowd, _, first, more) => {
        const scene = crowded(marker, first, crowd)
        const clients = await scene.clients(2)
        const since = scene.since()
        const asked: Outcome<Held>[] = []
        for (let each = 0; each < OURS; each++) {
          asked.push(outcome(make(clients[each % 2]!).acquire()))
          await scene.world.settle()
        }
        expect(counts(since.ops())).toEqual({ create2: OURS, getChildren2: OURS, getData: OURS, ...more })
        expect(scene.watches()).toHaveLength(OURS)
        const created = paths(scene)
        // The crowd leaves: only the contender right behind is notified.
        for (const path of created.slice(0, crowd - 1)) scene.ensemble.nodes.delete(path)
        expect(since.notified).toEqual([])
        const handing = scene.since()
        scene.ensemble.nodes.delete(created[crowd - 1]!)
        await scene.world.settle()
        expect(handing.notified).toHaveLength(1)
        expect(handing.ops().length).toBeLessThanOrEqual(2)
        expect((await turns(scene, asked)).map(({ path }) => path)).toEqual(created.slice(crowd))
      },
    )
  },
)

describe('A crowd whose list is above 1 MiB', () => {
  /** Bytes of the list: a length and a name for each. */
  const listSize = (scene: Scene) => scene.children(PATH).reduce((sum, name) => sum + 4 + name.length, 0)

  test(`Lock behind ${LARGE_CROWD} others waits, is handed over and is reported, with the default limit (L29)`, async () => {
    const scene = crowded('lock-', 0, LARGE_CROWD)
    expect(listSize(scene)).toBeGreaterThan(MiB)
    const zk = await scene.client()
    const lock = new Lock(zk, PATH, { label: 'ours' })
    const since = scene.since()
    const acquiring = await scene.start(lock.acquire())
    expect(since.ops()).toEqual(['create2', 'getChildren2', 'getData'])
    expect(await scene.done(lock.tryAcquire())).toBeUndefined()
    expect(await scene.done(lock.contenders())).toHaveLength(LARGE_CROWD + 1)
    const created = paths(scene)
    for (const path of created.slice(0, LARGE_CROWD - 1)) scene.ensemble.nodes.delete(path)
    const handing = scene.since()
    scene.ensemble.nodes.delete(created[LARGE_CROWD - 1]!)
    await scene.world.settle()
    expect(acquiring.value).toMatchObject({ path: created.at(-1)! })
    expect(handing.ops()).toEqual(['getChildren2', 'multi'])
    await scene.done(acquiring.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock is refused with ResponseTooLarge, which says what to do, where the list is over maxResponseSize (L29)', async () => {
    const scene = crowded('lock-', 0, LARGE_CROWD)
    const zk = await scene.client({ advanced: { maxResponseSize: MiB } })
    const lock = new Lock(zk, PATH)
    for (const ask of [() => lock.acquire(), () => lock.tryAcquire(), () => lock.contenders()]) {
      const asking = outcome<unknown>(ask())
      await scene.world.advance(5_000)
      expect(asking.error).toMatchObject({
        code: 'ResponseTooLarge',
        path: PATH,
        message: expect.stringContaining('raise it'),
      })
    }
    expect(scene.children(PATH)).toHaveLength(LARGE_CROWD)
    expect(scene.leftovers()).toEqual(nothing)
    expect(zk.session.signal.aborted).toBe(false)
  })
})

import { deleteRecursive, READ_ACL_UNSAFE } from '@zk/client'
import { expect, test } from 'vitest'
import { loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

test.each([
  [100, 1],
  [150, 1],
  [400, 4],
])(
  'deleteRecursive of %i children, %i at a time, outlives a batch that is lost with its connection',
  async (count, concurrency) => {
    const scene = new Scene()
    const zk = await scene.client()
    for (let each = 0; each < count; each++) scene.ensemble.nodes.create(`/t/${each}`)
    loseRequest(scene.ensemble.faults, { op: 'multi' })
    const deleting = outcome(deleteRecursive(zk, '/t', { concurrency }))
    await scene.world.advance(60_000)
    expect([deleting.status, scene.ensemble.nodes.get('/t')]).toEqual(['fulfilled', undefined])
  },
)

test('deleteRecursive outlives a connection that is lost in one of the deletes of a refused batch', async () => {
  const scene = new Scene()
  const [zk, other] = [await scene.client({ advanced: { maxInFlight: 1 } }), await scene.client()]
  scene.ensemble.nodes.create('/t/a')
  const { faults } = scene.ensemble
  faults.delayRequest({ op: 'multi', ms: 100 })
  // The batch is refused for a node that has come meanwhile; then the delete of /t/a is lost, and /t is in the way.
  loseRequest(faults, { op: 'delete', path: '/t/a' })
  const deleting = outcome(deleteRecursive(zk, '/t'))
  await scene.world.settle()
  await scene.done(other.create('/t/late'))
  await scene.world.advance(60_000)
  expect([deleting.status, scene.ensemble.nodes.get('/t')]).toEqual(['fulfilled', undefined])
})

test.each([
  ['/t/a', '/t/b'],
  ['/t/b', '/t/a'],
])(
  'deleteRecursive goes on where %s is lost and %s has a child that came late, though nothing was deleted',
  async (lost, late) => {
    const scene = new Scene()
    const [zk, other] = [await scene.client({ advanced: { maxInFlight: 1 } }), await scene.client()]
    for (const path of ['/t/a', '/t/b']) scene.ensemble.nodes.create(path)
    const { faults } = scene.ensemble
    faults.delayRequest({ op: 'multi', ms: 100 })
    loseRequest(faults, { op: 'delete', path: lost })
    const deleting = outcome(deleteRecursive(zk, '/t'))
    await scene.world.settle()
    await scene.done(other.create(`${late}/late`))
    await scene.world.advance(60_000)
    expect([deleting.status, scene.ensemble.nodes.get('/t')]).toEqual(['fulfilled', undefined])
  },
)

test('deleteRecursive makes its batches no longer than maxRequestSize', async () => {
  const scene = new Scene()
  const zk = await scene.client({ advanced: { maxRequestSize: 4_096 } })
  for (let each = 0; each < 99; each++) scene.ensemble.nodes.create(`/t/${'x'.repeat(60)}${each}`)
  const deleting = outcome(deleteRecursive(zk, '/t'))
  await scene.world.advance(60_000)
  expect([deleting.value, scene.ensemble.nodes.get('/t')]).toEqual([100, undefined])
})

test('deleteRecursive deletes a hundred nodes at a time', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  for (let each = 0; each < 250; each++) scene.ensemble.nodes.create(`/t/${each}`)
  const progress: number[] = []
  const onProgress = ({ deleted }: { deleted: number }) => void progress.push(deleted)
  const deleting = outcome(deleteRecursive(zk, '/t', { onProgress, concurrency: 1 }))
  await scene.world.advance(60_000)
  expect([deleting.value, progress]).toEqual([251, [100, 200, 251]])
})

test('deleteRecursive reports what it has deleted of a batch in which a node is refused', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/t/a')
  scene.ensemble.nodes.create('/t/kept', { acl: READ_ACL_UNSAFE })
  scene.ensemble.nodes.create('/t/kept/b')
  const progress: number[] = []
  const onProgress = ({ deleted }: { deleted: number }) => void progress.push(deleted)
  const deleting = outcome(deleteRecursive(zk, '/t', { onProgress }))
  await scene.world.advance(60_000)
  expect(deleting.error).toMatchObject({ code: 'NoAuth', path: '/t/kept/b' })
  expect([progress, scene.children('/t')]).toEqual([[1], ['kept']])
})

test('deleteRecursive rejects with what onProgress throws, whatever it is, and calls it no more', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/t/a')
  const error = new RangeError('off the end of the bar')
  let calls = 0
  const onProgress = () => {
    calls++
    throw error
  }
  const deleting = outcome(deleteRecursive(zk, '/t', { onProgress }))
  await scene.world.advance(60_000)
  expect([deleting.error, calls]).toEqual([error, 1])
})

// What the other tests of this package see of the ensemble: do they see what is there?
import { describe, expect, test } from 'vitest'
import { Lock, type ZooKeeper } from '../../src/index.ts'
import { outcome } from './outside.ts'
import { piecesOf } from './pieces.ts'
import { Scene } from './scene.ts'

/** How many watches the server says that it has. */
function counted({ ensemble, world }: Scene): number {
  const link = ensemble.accept('zk1', { address: '10.0.0.2' }, world.now())!
  const outputs = ensemble.received(link, new TextEncoder().encode('mntr'), world.now())
  const text = outputs.map((output) => (output.type === 'send' ? new TextDecoder().decode(output.bytes) : '')).join('')
  return Number(/zk_watch_count\t(\d+)/.exec(text)![1])
}

describe('Scene', () => {
  test('Scene lists as many watches as the server counts', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const { nodes } = scene.ensemble
    const steps: [what: string, watches: number, act: () => unknown][] = [
      ['nothing yet', 0, () => nodes.create('/a/b')],
      ['data', 1, () => zk.getDataAndWatch('/a')],
      ['children', 2, () => zk.getChildrenAndWatch('/a')],
      ['what may come', 3, () => zk.existsAndWatch('/none')],
      ['data in vain', 3, () => outcome(zk.getDataAndWatch('/none/either'))],
      ['another client', 4, () => other.existsAndWatch('/a')],
      ['the same again', 4, () => other.getDataAndWatch('/a')],
      ['data changed', 2, () => nodes.setData('/a', 'x')],
      ['removed', 1, () => zk.removeWatches('/none')],
      ['somewhere else', 1, () => zk.create('/c')],
      ['children changed', 0, () => nodes.create('/a/d')],
      ['data again', 1, () => zk.getDataAndWatch('/a')],
      ['two nodes', 2, () => zk.getDataAndWatch('/c')],
      ['one gone while away', 1, () => (scene.cut(zk), nodes.delete('/c'))],
      ['children of another', 2, () => other.getChildrenAndWatch('/a/b')],
      ['both tables', 3, () => other.getDataAndWatch('/a/b')],
      ['all gone', 0, () => nodes.delete('/a')],
    ]
    for (const [what, watches, act] of steps) {
      void act()
      await scene.world.advance(5_000)
      expect([what, scene.watches().length]).toEqual([what, watches])
      expect([what, counted(scene)]).toEqual([what, watches])
    }
  })

  test('Scene has nothing left over of clients that rest, and tells what they hold', async () => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, '/a').acquire())
    await scene.world.advance(60_000)
    // The timer is for the next confirmation.
    expect(scene.leftovers()).toEqual({ nodes: [held.path], watches: [`data ${held.path}`], timers: 1 })
    await scene.done(held.release())
    await scene.done(zk.close())
    expect(scene.leftovers()).toEqual({ nodes: [], watches: [], timers: 0 })
  })

  test('Scene counts round trips, and acts before a frame arrives', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    expect(await scene.roundTrips(zk.sync('/').then(() => zk.sync('/')))).toBe(2)
    const syncing = outcome(zk.sync('/'))
    const seen: string[] = []
    for (const frame of [1, 2, 3]) scene.network.before(frame, () => seen.push(syncing.status))
    await scene.world.settle()
    expect(seen).toEqual(['pending', 'pending'])
    expect(syncing.status).toBe('fulfilled')
  })

  test.each([
    ['frames', [0, 0, 0, 1, 7, 0, 0, 0, 0], [5, 4]],
    ['garbage behind a frame', [0, 0, 0, 1, 7, 255, 255, 255, 255], [9]],
    ['a part of a frame', [0, 0, 0, 2, 7], [5]],
    ['a word', [...new TextEncoder().encode('wchs')], [4]],
  ])('piecesOf cuts %s', (_, bytes, lengths) => {
    // Where a buffer holds more than the bytes.
    const whole = new Uint8Array([9, ...bytes]).subarray(1)
    expect(piecesOf(whole).map(({ byteLength }) => byteLength)).toEqual(lengths)
  })
})

// The test that docs/guide/testing.md shows.
import { once } from 'node:events'
import { connect, Lock, LostError, sleep } from '@zk/recipes'
import { TestEnsemble, VirtualWorld } from '@zk/testing'
import { expect, test, vi } from 'vitest'

/** Stands for code of yours that stops when the signal aborts. */
const writeReport = vi.fn(async (signal: AbortSignal) => {
  await once(signal, 'abort')
})

// #region lost
test('the report fails when its lock is lost', async () => {
  const ensemble = await TestEnsemble.start({ tickTime: 100 })
  const zk = await connect(ensemble.connectString)
  try {
    const reporting = new Lock(zk, '/locks/report').run((held) => writeReport(held.signal))
    await expect.poll(() => writeReport).toHaveBeenCalled()
    ensemble.sessions.expire(zk.session.id)
    await expect(reporting).rejects.toThrow(LostError)
  } finally {
    await zk.close()
    await ensemble.close()
  }
})
// #endregion

// #region virtual
test('an hour of work survives a lost connection', async () => {
  const world = new VirtualWorld({ seed: 1 })
  await world.run(async () => {
    await using zk = await connect(world.connectString, { runtime: world.runtime })
    await new Lock(zk, '/locks/report').run(async (held) => {
      await sleep(zk.runtime, 1_800_000, { signal: held.signal }) // your work
      world.network.reset()
      await sleep(zk.runtime, 1_700_000, { signal: held.signal })
      expect(held.isHeld()).toBe(true)
    })
  })
})
// #endregion

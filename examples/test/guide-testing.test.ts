// The test that docs/guide/testing.md shows.
import { connect, Lock, LockLostError } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { expect, test } from 'vitest'

/** Stands for code of yours that stops when it is told to. */
function writeReport(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

// #region lost
test('the report is not taken for written when its lock is lost', async () => {
  const ensemble = await TestEnsemble.start({ tickTime: 100 })
  const zk = await connect(ensemble.connectString)
  try {
    const reporting = new Lock(zk, '/locks/report').run((held) => writeReport(held.signal))
    await expect.poll(() => ensemble.nodes.get('/locks/report')?.children).toHaveLength(1)
    ensemble.sessions.expire(zk.session.id)
    await expect(reporting).rejects.toThrow(LockLostError)
  } finally {
    await zk.close()
    await ensemble.close()
  }
})
// #endregion

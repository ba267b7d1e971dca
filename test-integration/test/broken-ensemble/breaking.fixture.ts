// Tests that leave the ensemble in any state.
import { connect } from '@zk/client'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../src/ensemble/index.ts'
import { describeEnsemble } from '../support/describe-ensemble.ts'

describeEnsemble('The shared ensemble', (ensemble) => {
  const newClient = async () => {
    const zk = await connect(ensemble.connectString, { sessionTimeout: 4_000, connectTimeout: 30_000 })
    onTestFinished(() => zk.close())
    return zk
  }

  test('has a server that runs out of memory', async () => {
    const zk = await newClient()
    await zk.create('/filled')
    let count = 0
    const fill = async (): Promise<boolean> => {
      const some = Array.from({ length: 4 }, () => zk.create(`/filled/${count++}`, new Uint8Array(1_000_000)))
      await Promise.allSettled(some)
      return (await ensemble.failures()).length > 0
    }
    await until('a server to end', fill, { interval: 0 })
    await expect(ensemble.mend()).rejects.toThrow('has ended by itself')
  })

  test('is a new one then', async () => {
    expect(await ensemble.isWhole()).toBe(true)
    expect(await ensemble.failures()).toEqual([])
    const zk = await newClient()
    expect(await zk.exists('/filled')).toBeUndefined()
    await zk.create('/kept')
  })

  test('has a server that a test has killed', async () => {
    const leader = await ensemble.leader()
    await leader.kill()
    expect(await ensemble.isWhole()).toBe(false)
  })

  test('is whole then, and the same', async () => {
    expect(await ensemble.isWhole()).toBe(true)
    const zk = await newClient()
    await zk.sync('/')
    expect(await zk.exists('/kept')).toBeDefined()
  })
})

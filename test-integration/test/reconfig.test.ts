// Reconfiguration where it is enabled: separate ensembles, a real one and ours.
import { connect, type ZooKeeper } from '@zk/client'
import { TestEnsemble } from '@zk/testing'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { settings } from '@zk/conform/internal'
import { caughtUp, refusal } from './support/clients.ts'
import { lineOf, startReconfigurable } from './support/reconfigurable.ts'

interface Started extends AsyncDisposable {
  readonly connectString: string
}

const { tickTime, superDigest, superUser } = settings

async function real(): Promise<Started> {
  const ensemble = await startReconfigurable()
  const { connectString } = ensemble
  return { connectString, [Symbol.asyncDispose]: () => ensemble.stop() }
}

const inProcess = (): Promise<Started> => TestEnsemble.start({ tickTime, superDigest, reconfigEnabled: true })

describe.skipIf(inject('ensembles') === undefined)('the real ensemble', () => claims(real))
describe('the ensemble of @zk/testing', () => claims(inProcess))

function claims(start: () => Promise<Started>): void {
  let ensemble: Started

  beforeAll(async () => {
    ensemble = await start()
  }, 120_000)

  afterAll(() => ensemble[Symbol.asyncDispose]())

  async function open(chroot = ''): Promise<ZooKeeper> {
    const zk = await connect(ensemble.connectString + chroot, { connectTimeout: 20_000 })
    onTestFinished(() => zk.close())
    return zk
  }

  test('the first leader gives the configuration its version', async () => {
    const zk = await open()
    const { config, stat } = await zk.getConfig()
    expect(config.version & 0xffff_ffffn).toBe(0n)
    expect(config.version).toBeGreaterThan(0n)
    expect(stat).toMatchObject({ mzxid: config.version, version: -1, aversion: -1 })
  })

  test('an invalid change is reported before the missing permission', async () => {
    const zk = await open()
    const two = await lineOf(zk, 2)
    const host = (id: number) => `server.${id}=10.255.255.${id}:2888:3888:participant;2181`
    const [, address = ''] = /=([^:]+):/.exec(two) ?? []
    const changes = [
      [{ joining: [two], fromConfig: 5n }, 'BadVersion'],
      [{ joining: [two.replace(/;.*/, '')] }, 'BadArguments'],
      [{ joining: [`server.1=${address}:2888:3888;2181`] }, 'BadArguments'],
      [{ joining: [4, 5, 6].map(host) }, 'NewConfigNoQuorum'],
      [{ joining: [two] }, 'NoAuth'],
      [{ leaving: [3] }, 'NoAuth'],
      [{ members: await Promise.all([1, 2, 3].map((id) => lineOf(zk, id))) }, 'NoAuth'],
    ] as const
    const codes: string[] = []
    for (const [change] of changes) codes.push((await refusal(zk.reconfig(change))).code)
    expect(codes).toEqual(changes.map(([, code]) => code))
  })

  test('a permitted change returns the new configuration and notifies watchers, below a chroot too', async () => {
    const [zk, other] = await Promise.all([open(), open('/app')])
    await zk.addAuth('digest', superUser)
    const { config: before, changed } = await other.getConfigAndWatch()
    const line = await lineOf(zk, 2)
    const { config, stat } = await zk.reconfig({ joining: [line], fromConfig: before.version })
    expect(config.version).toBeGreaterThan(before.version)
    expect(stat).toMatchObject({ mzxid: config.version, version: -1, dataLength: config.text.length })
    expect(config.text).toContain(line)
    expect(await changed).toMatchObject({ type: 'NodeDataChanged', path: '/zookeeper/config' })
    await caughtUp(other)
    expect((await other.getConfig()).config).toEqual(config)
    expect(await refusal(zk.reconfig({ joining: [line], fromConfig: before.version }))).toMatchObject({
      code: 'BadVersion',
      op: 'reconfig',
    })
  })
}

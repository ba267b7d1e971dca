import { randomUUID } from 'node:crypto'
import { connect, KeeperError, type Stat, type ZooKeeper } from '@zk/client'
import { TestEnsemble } from '@zk/testing'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { shared } from '../support/shared-ensemble.ts'
import { Ensemble } from '../../src/ensemble/index.ts'
import { type ClientOptions, type ForeignClient, ForeignClients, type ZkCli } from '../../src/foreign/index.ts'
import { realServers, type Servers, testServers } from './servers.ts'

/** What a test uses. All of it is disposed when the test is over. */
export interface World {
  readonly servers: Servers
  /** The test's own node, which is `/` for all its clients. */
  readonly root: string
  readonly kazoo: (options?: ClientOptions) => Promise<ForeignClient>
  readonly curator: (options?: ClientOptions) => Promise<ForeignClient>
  readonly zkCli: (options?: ClientOptions) => Promise<ZkCli>
  /** Our own client. */
  readonly zk: ZooKeeper
}

/** The same with the servers of @zk/testing, and all their faults. */
export interface TestWorld extends World {
  readonly ensemble: TestEnsemble
}

export type Tests<W> = (world: () => Promise<W>) => void

/** Which servers. */
type Place = 'real servers' | 'a TestEnsemble'

/**
 * Tests with foreign clients. Those of `anywhere` run in one place: foreign clients alone show how a TestEnsemble serves them, and
 * our recipes beside them meet real servers. The other place is a control, which ZK_FOREIGN=everywhere adds (`pnpm nightly foreign`).
 */
export function describeForeign(
  name: string,
  place: Place,
  { anywhere, atTestEnsemble }: { readonly anywhere: Tests<World>; readonly atTestEnsemble?: Tests<TestWorld> },
): void {
  const description = shared?.description
  const isPlayed = (where: Place) => where === place || process.env['ZK_FOREIGN'] === 'everywhere'
  // Elsewhere a container's host network is that of a virtual machine, which does not reach our loopback address.
  const isEngineHere = process.platform === 'linux' && description?.host === '127.0.0.1'
  describe.skipIf(!isEngineHere)(name, () => {
    let clients: ForeignClients
    beforeAll(async () => {
      clients = await ForeignClients.start()
    })
    afterAll(() => clients[Symbol.asyncDispose]())

    if (isPlayed('real servers')) {
      describe('at real servers', () => anywhere(() => begin(realServers(Ensemble.attach(description!)), clients)))
    }
    if (!isPlayed('a TestEnsemble') && atTestEnsemble === undefined) return
    describe('at a TestEnsemble', () => {
      let ensemble: TestEnsemble
      beforeAll(async () => {
        ensemble = await TestEnsemble.start({ tickTime: 500, syncLimit: 4 })
      })
      afterAll(() => ensemble.close())
      if (isPlayed('a TestEnsemble')) anywhere(() => begin(testServers(ensemble), clients))
      atTestEnsemble?.(async () => ({ ...(await begin(testServers(ensemble), clients)), ensemble }))
    })
  })
}

async function begin(servers: Servers, clients: ForeignClients): Promise<World> {
  const { connectString } = servers
  const root = `/foreign-${randomUUID()}`
  await using maker = await connect(connectString)
  await maker.create(root)
  const zk = await connect(connectString + root)
  onTestFinished(async () => {
    await servers.mend()
    await clients.end()
    await zk.close()
  })
  return {
    servers,
    root,
    kazoo: (options) => clients.kazoo(connectString, { root, ...options }),
    curator: (options) => clients.curator(connectString, { root, ...options }),
    zkCli: (options) => clients.zkCli(connectString, { root, ...options }),
    zk,
  }
}

/** A node's Stat as kazoo and Curator report it. */
export async function statOf(zk: ZooKeeper, path: string): Promise<Record<keyof Stat, number | string>> {
  await caughtUp(zk)
  const stat = await zk.exists(path)
  if (stat === undefined) throw new Error(`There is no node ${path}`)
  const { czxid, mzxid, pzxid, ephemeralOwner } = stat
  return {
    ...stat,
    czxid: Number(czxid),
    mzxid: Number(mzxid),
    pzxid: Number(pzxid),
    ephemeralOwner: BigInt.asUintN(64, ephemeralOwner).toString(16),
  }
}

/** Repeats an operation that a lost connection has left unknown: executing it twice does no harm. */
export async function connected<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!KeeperError.is(error, 'ConnectionLoss')) throw error
    }
  }
}

import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { connect, KeeperError, type ConnectOptions, type ZooKeeper } from '@zk/client'
import type { Ensemble, EnsembleNode } from '../../src/ensemble/index.ts'
import { Proxy } from '../../src/proxy.ts'

/** A node of the ensemble, or a proxy in front of one. */
export interface Server {
  readonly address: string
}

export interface ClientOptions extends ConnectOptions {
  /** The root of its paths. @default a new node */
  readonly chroot?: string
  /** The servers that it knows. @default all nodes */
  readonly servers?: readonly Server[]
  /** The server where its session begins. @default any */
  readonly at?: Server
}

/** A client that is closed when the test is over. */
export async function newClient(ensemble: Ensemble, options: ClientOptions = {}): Promise<ZooKeeper> {
  const { chroot = await newChroot(ensemble), servers = ensemble.nodes, at, ...connectOptions } = options
  const connectString = servers.map(({ address }) => address).join(',') + chroot
  // Servers are tried in random order: each is the first one before long.
  for (;;) {
    const zk = await connect(connectString, { sessionTimeout: 4_000, connectTimeout: 10_000, ...connectOptions })
    if (at !== undefined && zk.session.connection?.server !== at.address) {
      await zk.close()
      continue
    }
    onTestFinished(() => zk.close())
    return zk
  }
}

/** A proxy in front of the node. Start it before its clients: a test disposes what it started last first. */
export async function newProxy(node: EnsembleNode): Promise<Proxy> {
  const proxy = await Proxy.start(node.address)
  onTestFinished(() => proxy.close())
  return proxy
}

/** A persistent node for one test: a container would be deleted while it is empty. */
export async function newChroot(ensemble: Ensemble): Promise<string> {
  await using zk = await connect(ensemble.connectString, { sessionTimeout: 4_000, connectTimeout: 10_000 })
  const { path } = await zk.create(`/test-${randomUUID()}`)
  return path
}

/** When it resolves, the client reads, and has been notified of, every change that was committed before the call. */
export async function caughtUp(zk: ZooKeeper): Promise<void> {
  for (;;) {
    // Only an established connection is certain to send a write.
    await zk.sync('/')
    // A leader answers a sync before it has applied what a follower may have reported (CommitProcessor.matchSyncs).
    const { code } = await refusal(zk.setData('/no-such-node', ''))
    if (code === 'NoNode') return
    if (code !== 'ConnectionLoss') throw new Error(`there should be no such node: ${code}`)
  }
}

/** What the promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in value) return value.error
  throw new Error('it should have been rejected')
}

/** The KeeperError that the promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<KeeperError> {
  const error = await rejection(promise)
  if (KeeperError.is(error)) return error
  throw error
}

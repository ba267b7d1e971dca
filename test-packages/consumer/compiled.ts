// Typical code of users, compiled against the packed packages with every strict compiler option.
import { connect, type ConnectOptions, Lock, LostError, type LockOptions, op, SharedLock } from '@zk/recipes'
import { digestMd5, type CallOptions, type TlsOptions, type ZooKeeper } from '@zk/client'
import { TestEnsemble, type TestEnsembleOptions, TestServer } from '@zk/testing'
import * as wire from '@zk/wire'
import { TxnHeader } from '@zk/wire/server'

/** Options may be filled step by step, */
export function optionsOf(environment: Readonly<Record<string, string>>): ConnectOptions {
  const options: ConnectOptions = {}
  const { user, password, timeout } = environment
  if (user !== undefined && password !== undefined) options.sasl = digestMd5({ username: user, password })
  if (timeout !== undefined) options.sessionTimeout = Number(timeout)
  return options
}

/** or in one expression: undefined stands for the default. */
export function optionsFor(timeout: number | undefined, tls: TlsOptions | undefined): ConnectOptions {
  return { sessionTimeout: timeout, tls, signal: undefined, logger: undefined, auth: undefined }
}

export async function report(options: ConnectOptions): Promise<string> {
  const members: TestEnsembleOptions = { members: 1, tickTime: undefined }
  const ensemble = await TestEnsemble.start(members)
  const zk: ZooKeeper = await connect(ensemble.connectString, options)
  const lockOptions: LockOptions = {}
  lockOptions.label = 'compiled'
  const lock = new Lock(zk, '/locks/report', lockOptions)
  const call: CallOptions = { timeout: undefined, signal: undefined }
  try {
    const path = await lock.run(async (held) => {
      const token: bigint = held.fencingToken
      const [created, stat] = await held.multi([
        op.create('/report-', String(token), { mode: 'PERSISTENT_SEQUENTIAL', acl: undefined }),
        op.setData('/locks', new Uint8Array(1)),
      ])
      return `${created.path} ${stat.version}`
    })
    const shared = new SharedLock(zk, '/locks/shared', { label: undefined })
    const write = await shared.write.acquire()
    await (await write.downgrade()).release()
    const { data } = await zk.getData('/locks', call)
    for await (const event of await zk.watch('/locks')) if (event.type === 'NodeDeleted') break
    return `${path} ${data.byteLength}`
  } catch (error) {
    if (LostError.is(error)) return error.code
    throw error
  } finally {
    await zk.close()
    await ensemble.close()
  }
}

export const server: Promise<TestServer> = TestServer.start({ port: undefined })
export const header: wire.TypeOf<typeof TxnHeader> = wire.decode(TxnHeader, new Uint8Array(32))
export const opCode: number = wire.operations.getData.opCode

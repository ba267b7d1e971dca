// Code of packages/client/README.md.
import { readFile } from 'node:fs/promises'
import { connect, type ConnectOptions, digestMd5, op, type ZooKeeper } from '@zk/client'

export { connectSafely, followEvents, handOver, moveMoney, moveServers }

// #region multi
async function moveMoney(zk: ZooKeeper, from: number, to: number): Promise<void> {
  // All of it happens, or nothing. Each account was read at the version that it must still have.
  await zk.multi([
    op.setData('/accounts/ann', '90', { version: from }),
    op.setData('/accounts/bob', '110', { version: to }),
  ])
}
// #endregion

// #region watch
async function followEvents(zk: ZooKeeper, readAgain: () => Promise<void>): Promise<void> {
  for await (const event of await zk.watch('/config', { recursive: true })) {
    if (event.type === 'Gap') await readAgain()
    else console.log(event.type, event.path)
  }
}
// #endregion

// #region servers
async function moveServers(zk: ZooKeeper, servers: string, signal: AbortSignal): Promise<void> {
  zk.updateServers(servers) // such as 'zk2:2181,zk3:2181,zk4:2181', from now on
  await zk.followServers({ signal }) // what /zookeeper/config lists, now and whenever it changes
}
// #endregion

// #region detach
async function handOver(zk: ZooKeeper, servers: string): Promise<ZooKeeper> {
  const session = await zk.detach() // leaves the session, with its ephemeral nodes, and ends this client
  return connect(servers, { session }) // within T, in another process for instance
}
// #endregion

// #region security
async function connectSafely(servers: string, password: string, options?: ConnectOptions): Promise<ZooKeeper> {
  return connect(servers, {
    ...options,
    tls: async () => ({
      ca: await readFile('ca.pem'),
      cert: await readFile('client.pem'),
      key: await readFile('client.key'),
    }),
    sasl: digestMd5({ username: 'bob', password }),
  })
}
// #endregion

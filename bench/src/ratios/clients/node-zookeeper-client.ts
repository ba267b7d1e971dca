// https://github.com/alexguan/node-zookeeper-client: the pure JavaScript client that most services use.
import zookeeper from 'node-zookeeper-client'
import { type Connect, SESSION_TIMEOUT } from './client.ts'
import { acquireNaively, type Nodes } from './naive-lock.ts'

type Callback = (error: Error | null, ...values: unknown[]) => void

export const connectPeer: Connect = async (connectString) => {
  const client = zookeeper.createClient(connectString, { sessionTimeout: SESSION_TIMEOUT, spinDelay: 0 })
  await new Promise<void>((resolve) => {
    client.once('connected', resolve)
    client.connect()
  })
  const call = <Value>(begin: (callback: Callback) => void) =>
    new Promise<Value>((resolve, reject) => {
      begin((error, value) => {
        if (error) reject(error)
        else resolve(value as Value)
      })
    })
  const watch: Nodes['watch'] = async (path) => {
    let fire: (event: unknown) => void
    const event = new Promise((resolve) => (fire = resolve))
    const stat = await call((callback) => client.exists(path, (each: unknown) => fire(each), callback))
    return { exists: stat !== null && stat !== undefined, event }
  }
  const children = (path: string) => call<string[]>((callback) => client.getChildren(path, callback))
  const remove = (path: string) => call((callback) => client.remove(path, -1, callback))
  const nodes: Nodes = {
    createSequential: (prefix) =>
      call((callback) => client.create(prefix, null, zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL, callback)),
    children,
    watch,
    delete: remove,
  }
  return {
    get: (path) => call((callback) => client.getData(path, callback)),
    // This client only takes Buffers.
    set: (path, data) => call((callback) => client.setData(path, Buffer.from(data.buffer), -1, callback)),
    create: (path) => call((callback) => client.create(path, null, zookeeper.CreateMode.PERSISTENT, callback)),
    delete: remove,
    children,
    watch,
    acquire: (path) => acquireNaively(nodes, path),
    close: async () => client.close(),
  }
}

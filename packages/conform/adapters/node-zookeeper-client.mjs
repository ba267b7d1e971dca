// node-zookeeper-client as an adapter: node node-zookeeper-client.mjs
import { createInterface } from 'node:readline'
import zookeeper from 'node-zookeeper-client'

let client
/** A call that takes a callback, as a promise. */
const call = (method, ...args) =>
  new Promise((resolve, reject) => client[method](...args, (error) => (error ? reject(error) : resolve())))
const watcher = (watch) => (watch ? [() => {}] : [])

const calls = {
  connect: ({ servers, timeout }) =>
    new Promise((resolve) => {
      client = zookeeper.createClient(servers, { sessionTimeout: timeout, retries: 0 })
      client.once('connected', resolve)
      client.connect()
    }),
  addAuth: async ({ scheme, auth }) => client.addAuthInfo(scheme, Buffer.from(auth)),
  create: ({ path, data }) => call('create', path, Buffer.from(data)),
  set: ({ path, data }) => call('setData', path, Buffer.from(data)),
  get: ({ path, watch }) => call('getData', path, ...watcher(watch)),
  exists: ({ path, watch }) => call('exists', path, ...watcher(watch)),
  children: ({ path, watch }) => call('getChildren', path, ...watcher(watch)),
  watch: async () => {
    throw new Error('it has no persistent watches')
  },
  close: async () => client.close(),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, ...ask } = JSON.parse(line)
  const answer = (error) => console.log(JSON.stringify({ id, ...(error && { error: error.message }) }))
  void (async () => calls[op](ask))().then(() => answer(), answer)
}

// Our own client as an adapter: node zk-client.mjs
import { createInterface } from 'node:readline'
import { connect } from '@zk/client'

let zk

const calls = {
  connect: async ({ servers, timeout }) => void (zk = await connect(servers, { sessionTimeout: timeout })),
  addAuth: ({ scheme, auth }) => zk.addAuth(scheme, auth),
  create: ({ path, data }) => zk.create(path, data),
  set: ({ path, data }) => zk.setData(path, data),
  get: ({ path, watch }) => (watch ? zk.getDataAndWatch(path) : zk.getData(path)),
  exists: ({ path, watch }) => (watch ? zk.existsAndWatch(path) : zk.exists(path)),
  children: ({ path, watch }) => (watch ? zk.getChildrenAndWatch(path) : zk.getChildren(path)),
  watch: ({ path, recursive }) => zk.watch(path, { recursive }),
  close: () => zk.close(),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, ...ask } = JSON.parse(line)
  const answer = (error) => console.log(JSON.stringify({ id, ...(error && { error: error.message }) }))
  void (async () => calls[op](ask))().then(() => answer(), answer)
}

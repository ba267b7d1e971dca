// Our own client, as one that does what it is asked.
import type { connect as connectTo, ZooKeeper } from '@zk/client'
import type { Ask, Asked } from './exercise.ts'

type Connect = typeof connectTo

export function askedOf(
  connect: Connect,
  runtime?: Parameters<Connect>[1] extends { runtime?: infer R } | undefined ? R : never,
): Asked {
  let zk: ZooKeeper | undefined
  return async (ask) => {
    if (ask.op === 'connect') {
      zk = await connect(ask.servers, { sessionTimeout: ask.timeout, ...(runtime !== undefined && { runtime }) })
      return undefined
    }
    if (zk === undefined) throw new Error('connect comes first')
    return answer(zk, ask)
  }
}

async function answer(zk: ZooKeeper, ask: Exclude<Ask, { readonly op: 'connect' }>): Promise<unknown> {
  switch (ask.op) {
    case 'addAuth':
      return zk.addAuth(ask.scheme, ask.auth)
    case 'create':
      return zk.create(ask.path, ask.data)
    case 'set':
      return zk.setData(ask.path, ask.data)
    case 'get':
      return ask.watch ? zk.getDataAndWatch(ask.path) : zk.getData(ask.path)
    case 'exists':
      return ask.watch ? zk.existsAndWatch(ask.path) : zk.exists(ask.path)
    case 'children':
      return ask.watch ? zk.getChildrenAndWatch(ask.path) : zk.getChildren(ask.path)
    case 'watch':
      return zk.watch(ask.path, { recursive: ask.recursive })
    case 'close':
      return zk.close()
  }
}

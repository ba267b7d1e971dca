// This client, with all its defaults.
import { connect, Lock } from '@zk/recipes'
import { type Connect, SESSION_TIMEOUT } from './client.ts'

export const connectZk: Connect = async (connectString) => {
  const zk = await connect(connectString, { sessionTimeout: SESSION_TIMEOUT })
  const locks = new Map<string, Lock>()
  const lockOf = (path: string) => {
    const lock = locks.get(path) ?? new Lock(zk, path)
    locks.set(path, lock)
    return lock
  }
  return {
    get: (path) => zk.getData(path),
    set: (path, data) => zk.setData(path, data),
    create: (path) => zk.create(path),
    delete: (path) => zk.delete(path),
    children: (path) => zk.getChildren(path),
    watch: async (path) => ({ event: (await zk.existsAndWatch(path)).changed }),
    acquire: async (path, timeout) => {
      const held = await lockOf(path).acquire(timeout === undefined ? undefined : { timeout })
      return () => held.release()
    },
    close: () => zk.close(),
  }
}

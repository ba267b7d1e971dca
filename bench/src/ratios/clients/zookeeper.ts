// https://github.com/yfinkelstein/node-zookeeper: ZooKeeper's own C client as a native add-on. It is only measured if it was
// built, which needs a compiler: `pnpm --filter @zk/bench native`.
import { createRequire } from 'node:module'
import { type Connect, SESSION_TIMEOUT } from './client.ts'
import { acquireNaively, type Nodes } from './naive-lock.ts'

type Callback<Value> = (code: number, error: string, ...values: Value[]) => void

interface NativeClient {
  init(config: { connect: string; timeout: number; debug_level: number }): void
  once(event: 'connect', listener: () => void): void
  close(): void
  aw_exists(path: string, watcher: (type: unknown) => void, callback: Callback<object | null>): void
  a_get(path: string, watch: boolean, callback: Callback<unknown>): void
  a_set(path: string, data: Uint8Array, version: number, callback: Callback<unknown>): void
  a_create(path: string, data: string, flags: number, callback: Callback<string>): void
  a_delete_(path: string, version: number, callback: Callback<unknown>): void
  a_get_children(path: string, watch: boolean, callback: Callback<readonly string[]>): void
}

const NO_NODE = -101
const EPHEMERAL_SEQUENTIAL = 3
const ERRORS_ALONE = 1

const folder = createRequire(new URL('../../../native/', import.meta.url))

export function isBuilt(): boolean {
  try {
    folder('zookeeper')
    return true
  } catch {
    return false
  }
}

export const connectNative: Connect = async (connectString) => {
  const ZooKeeper = folder('zookeeper') as new (config: object) => NativeClient
  const client = new ZooKeeper({})
  await new Promise<void>((resolve) => {
    client.once('connect', () => resolve())
    client.init({ connect: connectString, timeout: SESSION_TIMEOUT, debug_level: ERRORS_ALONE })
  })
  /** Resolves with the value, or with undefined for a missing node. */
  const call = <Value>(begin: (callback: Callback<Value>) => void) =>
    new Promise<Value | undefined>((resolve, reject) => {
      begin((code, error, ...values) => {
        if (code === 0 || code === NO_NODE) resolve(values.at(-1))
        else reject(new Error(error))
      })
    })
  const watch: Nodes['watch'] = async (path) => {
    let fire: (event: unknown) => void
    const event = new Promise((resolve) => (fire = resolve))
    const stat = await call<object | null>((callback) => client.aw_exists(path, (type) => fire(type), callback))
    return { exists: stat !== null && stat !== undefined, event }
  }
  const create = (path: string, flags: number) =>
    call<string>((callback) => client.a_create(path, '', flags, callback)) as Promise<string>
  const children = (path: string) =>
    call<readonly string[]>((callback) => client.a_get_children(path, false, callback)) as Promise<readonly string[]>
  const remove = (path: string) => call((callback) => client.a_delete_(path, -1, callback))
  const nodes: Nodes = {
    createSequential: (prefix) => create(prefix, EPHEMERAL_SEQUENTIAL),
    children,
    watch,
    delete: remove,
  }
  return {
    get: (path) => call((callback) => client.a_get(path, false, callback)),
    set: (path, data) => call((callback) => client.a_set(path, Buffer.from(data.buffer), -1, callback)),
    create: (path) => create(path, 0),
    delete: remove,
    children,
    watch,
    acquire: (path) => acquireNaively(nodes, path),
    close: async () => client.close(),
  }
}

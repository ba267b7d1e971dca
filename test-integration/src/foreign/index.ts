export { type Adapters, startAdapters } from './adapters.ts'
export { ForeignClients, type ClientOptions } from './clients.ts'
export type { ForeignClient } from './foreign-client.ts'
export type { ZkCli } from './zk-cli.ts'

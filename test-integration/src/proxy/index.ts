export { OpCode } from '@zk/wire'
export type { Direction } from './link.ts'
export { Proxy } from './proxy.ts'

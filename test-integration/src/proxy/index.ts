export { OpCode } from '@zk/wire'
export { Proxy, type Traffic } from './proxy.ts'

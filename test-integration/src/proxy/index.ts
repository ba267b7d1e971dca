export { OpCode } from '@zk/wire'
export { Proxy } from './proxy.ts'

import { GetChildren2Request, GetChildren2Response, OpCode, type TypeOf } from '@zk/wire'
import { type Stat, toStat } from '../stat.ts'
import { required } from './arguments.ts'
import type { WatchKind } from '../session/watches.ts'
import type { Operation } from './operation.ts'

export interface Children {
  /** Names, not paths, in no order. */
  readonly children: string[]
  /** Of the parent. */
  readonly stat: Stat
}

type Args = [path: string]
type Read = Operation<Args, TypeOf<typeof GetChildren2Request>, TypeOf<typeof GetChildren2Response>, Children>

export const getChildren: Read = {
  name: 'getChildren',
  opCode: OpCode.getChildren2,
  kind: 'read',
  request: GetChildren2Request,
  response: GetChildren2Response,
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: ({ children, stat }) => ({
    children: required(children, 'GetChildren2Response.children').map((name) =>
      required(name, 'GetChildren2Response.children'),
    ),
    stat: toStat(stat),
  }),
}

export const getChildrenAndWatch: Read & { watch: WatchKind } = {
  ...getChildren,
  name: 'getChildrenAndWatch',
  watch: 'child',
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: true }),
}

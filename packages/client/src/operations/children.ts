import { GetChildren2Response, operations, ProtocolError, type Type, type TypeOf } from '@zk/wire'
import { type Stat, toStat, withStat } from './stat.ts'
import { required } from '../base/arguments.ts'
import { NameList } from './name-list.ts'
import { type Operation, watching } from './operation.ts'

/** The result of `getChildren`: names and Stat, read at the same moment. */
export interface Children {
  /** The names of the children, not their paths, in no particular order. */
  readonly children: string[]
  /** The Stat of the parent. */
  readonly stat: Stat
}

type Read = Operation<[path: string], typeof operations.getChildren2, Children>

export const getChildren: Read = {
  name: 'getChildren',
  wire: withStat(operations.getChildren2),
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: ({ children, stat }) => ({
    children: toNames(children, 'GetChildren2Response.children'),
    stat: toStat(stat),
  }),
}

export function toNames(names: readonly (string | null)[] | null, field: string): string[] {
  const all = required(names, field)
  // One pass that allocates nothing: a list may have 100,000 names.
  if (all.includes(null)) required(null, field)
  return all as string[]
}

export const getChildrenAndWatch = watching(getChildren, 'child')

const undecoded = {
  ...GetChildren2Response,
  // If the list is malformed, the record reads it, and its error says what is wrong, and where.
  read: (reader) => NameList.parse(reader.rest()) ?? refuse(GetChildren2Response.read(reader)),
  write: (writer, { bytes }) => writer.raw(bytes),
} as const satisfies Type<NameList>

function refuse({ children }: TypeOf<typeof GetChildren2Response>): never {
  toNames(children, 'GetChildren2Response.children')
  throw new ProtocolError('the names of the children cannot be read')
}

const wireOfNames = { ...operations.getChildren2, response: undecoded } as const

/** Like `getChildren`, but a name is decoded only when it is needed. */
export const getChildNames: Operation<[path: string], typeof wireOfNames, NameList> = {
  name: getChildren.name,
  wire: wireOfNames,
  encode: getChildren.encode,
  result: (names) => names,
}

import {
  buffer,
  type Bytes,
  type GetDataResponse,
  operations,
  readNamed,
  type Stat as WireStat,
  type Type,
  type TypeOf,
} from '@zk/wire'
import { nodeStat, type Stat, toStat, withStat } from './stat.ts'
import { versionIn, type Data, toBytes } from '../base/arguments.ts'
import { versionOption, type VersionOptions } from './delete.ts'
import { type Operation, watching } from './operation.ts'

/** The result of `getData`: data and Stat, read at the same moment. */
export interface NodeData {
  /** The data; empty if the node has no data. It is a copy, which the caller may change. */
  readonly data: Bytes
  /** The data as text, decoded as UTF-8 at each use. */
  readonly text: string
  /** The Stat. `setData` and `delete` take its `version`. */
  readonly stat: Stat
}

type Found = NodeData | TypeOf<typeof GetDataResponse>
type Read = Operation<[path: string], Omit<typeof operations.getData, 'response'> & { response: Type<Found> }, NodeData>

/** The fields of the response, with names for errors. */
const dataField = { ...buffer, name: 'data' }
const statField = { ...nodeStat, name: 'stat' }

export const getData: Read = {
  name: 'getData',
  wire: {
    ...operations.getData,
    // The result itself: with a record in between, a small read would take 5 % longer.
    response: {
      ...operations.getData.response,
      read: (reader) => contentOf(readNamed(dataField, reader), readNamed(statField, reader)),
    },
  },
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  // A multiRead has read a record.
  result: (found) => (found instanceof NodeContent ? found : contentOf(found.data, found.stat)),
}

function contentOf(data: Uint8Array | null, stat: WireStat | Stat): NodeData {
  // `Reader.buffer` has already copied the data.
  return new NodeContent((data ?? new Uint8Array(0)) as Bytes, toStat(stat))
}

const utf8 = new TextDecoder()

/** A class, so that `text` costs a read nothing. */
class NodeContent implements NodeData {
  readonly data: Bytes
  readonly stat: Stat

  constructor(data: Bytes, stat: Stat) {
    this.data = data
    this.stat = stat
  }

  get text(): string {
    return utf8.decode(this.data)
  }
}

export const getDataAndWatch = watching(getData, 'data')

type Write = Operation<[path: string, data: Data, options: VersionOptions], typeof operations.setData, Stat>

export const setData: Write = {
  name: 'setData',
  options: versionOption,
  wire: withStat(operations.setData),
  encode: (chroot, path, data, options) => ({
    path: chroot.absolute(path),
    data: toBytes(data),
    version: versionIn(options),
  }),
  result: ({ stat }) => toStat(stat),
}

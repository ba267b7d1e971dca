// The ten most common messages, for both clients.
import * as wire from '@zk/wire'
import { JuteFrame, type Named } from './jute.ts'

export interface Message {
  readonly name: string
  /** Turns values into the bytes of a frame. */
  readonly encode: () => Uint8Array
  /** Turns the body of a frame into values. */
  readonly decode: (body: Uint8Array) => unknown
  readonly jute: JuteFrame
}

export const stat: wire.Stat = {
  czxid: 0x1_0000_0001n,
  mzxid: 0x1_0000_0002n,
  ctime: 1_700_000_000_000n,
  mtime: 1_700_000_000_001n,
  version: 3,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 100,
  numChildren: 0,
  pzxid: 0x1_0000_0001n,
}
const path = '/services/report/config'
const data = new Uint8Array(100).fill(7)
const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** Names of the contenders for a lock, as Curator writes them. */
export function childNames(count: number): string[] {
  const name = (index: number) => `_c_f3a1c5d2-0000-4000-8000-00000000000a-lock-${String(index).padStart(10, '0')}`
  return Array.from({ length: count }, (_, index) => name(index))
}

export const getDataRequest = request('getData request', 'GetDataRequest', { path, watch: false }, 4)
export const getDataReply = reply('getData reply', 'GetDataResponse', { data, stat })

export const commonest: readonly Message[] = [
  message('ping request', ['RequestHeader', { xid: -2, type: 11 }]),
  getDataRequest,
  getDataReply,
  reply('exists reply', 'ExistsResponse', { stat }),
  reply('getChildren2 reply, 10 names', 'GetChildren2Response', { children: childNames(10), stat }),
  request('create request', 'CreateRequest', { path, data, acl, flags: 3 }, 1),
  reply('create reply', 'CreateResponse', { path }),
  request('setData request', 'SetDataRequest', { path, data, version: 3 }, 5),
  request('delete request', 'DeleteRequest', { path, version: 3 }, 2),
  message('event', ['ReplyHeader', { xid: -1, zxid: -1n, err: 0 }], ['WatcherEvent', { type: 3, state: 3, path }]),
]

function request(name: string, record: string, value: object, type: number): Message {
  return message(name, ['RequestHeader', { xid: 1, type }], [record, value])
}

function reply(name: string, record: string, value: object): Message {
  return message(name, ['ReplyHeader', { xid: 1, zxid: 7n, err: 0 }], [record, value])
}

function message(name: string, ...parts: readonly Named[]): Message {
  const types = parts.map(([record]) => (wire as unknown as Record<string, wire.Type<unknown>>)[record]!)
  const [header, body] = types as [wire.Type<unknown>, wire.Type<unknown> | undefined]
  const [[, head], [, value] = []] = parts as [Named, Named?]
  return {
    name,
    encode: () =>
      wire.encodeFrame((writer) => {
        header.write(writer, head)
        body?.write(writer, value)
      }),
    decode: (bytes) => {
      const reader = new wire.Reader(bytes)
      return [wire.readNamed(header, reader), body && wire.readNamed(body, reader)]
    },
    jute: new JuteFrame(parts),
  }
}

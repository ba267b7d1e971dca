// What a server sends, as frames.
import {
  ConnectResponse,
  encodeFrame,
  ErrorCode,
  type ErrorName,
  EventType,
  KeeperState,
  ReplyHeader,
  type Type,
  type TypeOf,
  WatcherEvent,
  Xid,
} from '@zk/wire'

export type Handshake = Partial<Omit<TypeOf<typeof ConnectResponse>, 'protocolVersion'>>

export interface ReplyFields {
  readonly xid: number
  /** @default 1n */
  readonly zxid?: bigint
  /** A code, by name or by number. @default 'Ok' */
  readonly err?: ErrorName | number
}

export interface EventFields {
  /** @default -1n, as before ZooKeeper 3.9 */
  readonly zxid?: bigint
  /** @default KeeperState.SyncConnected */
  readonly state?: number
}

/** `timeOut: 0` says that the session has expired. */
export function handshakeFrame(response: Required<Handshake>): Uint8Array {
  return encodeFrame((writer) => ConnectResponse.write(writer, { protocolVersion: 0, ...response }))
}

/** A header alone, or with a body behind it. */
export function replyFrame(header: ReplyFields): Uint8Array
export function replyFrame<T>(header: ReplyFields, type: Type<T>, body: T): Uint8Array
export function replyFrame<T>({ xid, zxid = 1n, err = 'Ok' }: ReplyFields, type?: Type<T>, body?: T): Uint8Array {
  return encodeFrame((writer) => {
    ReplyHeader.write(writer, { xid, zxid, err: typeof err === 'number' ? err : ErrorCode[err] })
    type?.write(writer, body as T)
  })
}

/** An event, by its name or by a number that may mean nothing. */
export function eventFrame(
  type: EventType | number,
  path: string | null,
  { zxid = -1n, state = KeeperState.SyncConnected }: EventFields = {},
): Uint8Array {
  const number = typeof type === 'number' ? type : EventType[type]
  return replyFrame({ xid: Xid.notification, zxid }, WatcherEvent, { type: number, state, path })
}

export {
  AddWatchMode,
  CreateMode,
  ErrorCode,
  errorName,
  type ErrorName,
  eventName,
  EventType,
  KeeperState,
  OpCode,
  Perms,
  WatcherType,
  Xid,
} from './constants.ts'
export { type ConnectString, formatServer, parseConnectString, type ServerAddress } from './connect-string.ts'
export {
  concat,
  encodeFrame,
  FrameDecoder,
  type FrameDecoderOptions,
  FrameTooLargeError,
  JUTE_MAXBUFFER,
} from './frame.ts'
export { type MultiOp, MultiRequest, MultiResponse, type MultiResult } from './multi.ts'
export { validatePath, type ValidatePathOptions } from './path.ts'
export { ProtocolError, type ProtocolErrorDetails } from './protocol-error.ts'
export { Reader } from './reader.ts'
export * from './records/data.ts'
export * from './records/proto.ts'
export * from './records/server.ts'
export * from './records/txn.ts'
export {
  boolean,
  buffer,
  decode,
  encode,
  int,
  long,
  readNamed,
  record,
  type RecordType,
  trailing,
  type Type,
  type TypeOf,
  ustring,
  vector,
} from './type.ts'
export { Writer } from './writer.ts'

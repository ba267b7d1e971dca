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
export { formatACL, generateDigest, parseACL } from './acl.ts'
export { type Bytes, concat } from './bytes.ts'
export { Conversation, type ConversationOptions, MessageDecoder } from './conversation.ts'
export { formatMessage, type FormatMessageOptions } from './format-message.ts'
export { encodeFrame, FrameDecoder, type FrameDecoderOptions, FrameTooLargeError, JUTE_MAXBUFFER } from './frame.ts'
export {
  type Asked,
  type ClientMessage,
  type ConnectedMessage,
  type ConnectMessage,
  decodeClientFrame,
  decodeServerFrame,
  encodeMessage,
  type EventMessage,
  type ReplyMessage,
  type ReplyOf,
  type RequestMessage,
  type RequestOf,
  type ServerMessage,
  type TextMessage,
  type UnknownReply,
  type UnknownRequest,
} from './messages.ts'
export { type MultiOp, MultiRequest, MultiResponse, type MultiResult } from './multi.ts'
export {
  type Operation,
  type OperationKind,
  type OperationName,
  operationName,
  type Operations,
  operations,
} from './operations.ts'
export { parentOf, validatePath, type ValidatePathOptions } from './path.ts'
export { printable } from './printable.ts'
export { ProtocolError, type ProtocolErrorDetails } from './protocol-error.ts'
export { Reader } from './reader.ts'
export * from './records/data.ts'
export * from './records/proto.ts'
export { setWatchesRequests, type WatchesRequest } from './set-watches.ts'
export {
  boolean,
  buffer,
  type BufferType,
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
  writeNamed,
} from './type.ts'
export { Writer } from './writer.ts'

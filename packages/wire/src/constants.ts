/** Request types (ZooDefs.OpCode). `operations` describes each of them. */
export const OpCode = {
  notification: 0,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  setACL: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTTL: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  createSession: -10,
  closeSession: -11,
  error: -1,
} as const
/** A number of `OpCode`. */
export type OpCode = (typeof OpCode)[keyof typeof OpCode]

/** Reserved xids. For other requests a client counts from 1 to 2³¹ - 2, and then from 1 again, as Java's client does. */
export const Xid = { notification: -1, ping: -2, auth: -4, setWatches: -8 } as const

/** Reply codes (KeeperException.Code). The names are those of its exception classes, without `Exception`. */
export const ErrorCode = {
  Ok: 0,
  SystemError: -1,
  RuntimeInconsistency: -2,
  DataInconsistency: -3,
  ConnectionLoss: -4,
  MarshallingError: -5,
  Unimplemented: -6,
  OperationTimeout: -7,
  BadArguments: -8,
  /** C client only */
  InvalidState: -9,
  UnknownSession: -12,
  NewConfigNoQuorum: -13,
  ReconfigInProgress: -14,
  /** C client only */
  SSLConnectionError: -15,
  APIError: -100,
  NoNode: -101,
  NoAuth: -102,
  BadVersion: -103,
  NoChildrenForEphemerals: -108,
  NodeExists: -110,
  NotEmpty: -111,
  SessionExpired: -112,
  InvalidCallback: -113,
  InvalidACL: -114,
  AuthFailed: -115,
  /** C client only */
  Closing: -116,
  /** C client only */
  Nothing: -117,
  SessionMoved: -118,
  NotReadOnly: -119,
  EphemeralOnLocalSession: -120,
  NoWatcher: -121,
  RequestTimeout: -122,
  ReconfigDisabled: -123,
  SessionClosedRequireSaslAuth: -124,
  QuotaExceeded: -125,
  /** the server has not executed the request: try again later */
  ThrottledOp: -127,
} as const
/** A name of `ErrorCode`. */
export type ErrorName = keyof typeof ErrorCode

/** Values of `flags` in create requests (CreateMode). Those above 3 are not bit masks. */
export const CreateMode = {
  PERSISTENT: 0,
  EPHEMERAL: 1,
  PERSISTENT_SEQUENTIAL: 2,
  EPHEMERAL_SEQUENTIAL: 3,
  CONTAINER: 4,
  PERSISTENT_WITH_TTL: 5,
  PERSISTENT_SEQUENTIAL_WITH_TTL: 6,
} as const
/** A name of `CreateMode`. */
export type CreateMode = keyof typeof CreateMode

/** Bits of an ACL's `perms` (ZooDefs.Perms). */
export const Perms = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const

/** Types of a WatcherEvent (Watcher.Event.EventType). Clients create the three *Removed events themselves. */
export const EventType = {
  None: -1,
  NodeCreated: 1,
  NodeDeleted: 2,
  NodeDataChanged: 3,
  NodeChildrenChanged: 4,
  DataWatchRemoved: 5,
  ChildWatchRemoved: 6,
  PersistentWatchRemoved: 7,
} as const
/** A name of `EventType`. */
export type EventType = keyof typeof EventType

/** States in a WatcherEvent (Watcher.Event.KeeperState). */
export const KeeperState = {
  Unknown: -1,
  Disconnected: 0,
  NoSyncConnected: 1,
  SyncConnected: 3,
  AuthFailed: 4,
  ConnectedReadOnly: 5,
  SaslAuthenticated: 6,
  Closed: 7,
  Expired: -112,
} as const
/** A name of `KeeperState`. */
export type KeeperState = keyof typeof KeeperState

/** Types of watches for removeWatches and checkWatches (Watcher.WatcherType). */
export const WatcherType = { Children: 1, Data: 2, Any: 3, Persistent: 4, PersistentRecursive: 5 } as const
/** A name of `WatcherType`. */
export type WatcherType = keyof typeof WatcherType

/** Modes of addWatch (AddWatchMode). */
export const AddWatchMode = { PERSISTENT: 0, PERSISTENT_RECURSIVE: 1 } as const
/** A name of `AddWatchMode`. */
export type AddWatchMode = keyof typeof AddWatchMode

/** Returns the name of a reply code, or undefined if this version of the package does not know the code. */
export const errorName = nameOf(ErrorCode)

/** Returns the name of an event type, or undefined if this version of the package does not know the type. */
export const eventName = nameOf(EventType)

export function nameOf<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
): (number: number) => Name | undefined {
  const names = new Map(Object.entries<number>(numbers).map(([name, number]) => [number, name as Name]))
  return (number) => names.get(number)
}

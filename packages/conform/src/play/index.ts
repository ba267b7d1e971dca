export { addressSeenBy } from './client-address.ts'
export { Connection, type FrameHeader, type Reply } from './connection.ts'
export {
  ask,
  type AskOptions,
  type ClientConnection,
  parseCons,
  parseMntr,
  parseSrvr,
  type ServerMode,
  type ServerStatus,
} from './four-letter-word.ts'
export { mistypedMulti, ops } from './multi-op.ts'
export { byCodeUnit } from './order.ts'
export { type Played, playOn, run, type RunOptions, type ScenarioBody, UNFINISHED } from './run.ts'
export { type OpenOptions, Scenario } from './scenario.ts'
export { type CreateOptions, type Credentials, open, Session } from './session.ts'
export { NO_COMMAND, type Place, places, settings, type Stage, type Target } from './target.ts'
export { type Frame, Transcript } from './transcript.ts'
export { int32, toHex, utf8 } from './bytes.ts'

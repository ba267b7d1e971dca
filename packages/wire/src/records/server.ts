// modules org.apache.zookeeper.server.persistence and org.apache.zookeeper.server.quorum
import { buffer, int, long, record, trailing, vector } from '../type.ts'
import { Id } from './data.ts'

/** The header of a log or of a snapshot. */
export const FileHeader = record('FileHeader', { magic: int, version: int, dbid: long })
/** What a follower or observer sends to the leader about itself. `configVersion` exists from 3.5.0 on. */
export const LearnerInfo = record('LearnerInfo', {
  serverid: long,
  protocolVersion: int,
  configVersion: trailing(long, 0n),
})
/** A message between a leader and a follower or observer. */
export const QuorumPacket = record('QuorumPacket', { type: int, zxid: long, data: buffer, authinfo: vector(Id) })
/** A message of the authentication between servers. */
export const QuorumAuthPacket = record('QuorumAuthPacket', { magic: long, status: int, token: buffer })

// Makes the requests that set watches again on a new connection: setWatches, or setWatches2 if some watches are persistent.
// One request for all could be longer than the server's jute.maxbuffer (ZOOKEEPER-706), so there may be several.
import { OpCode } from './constants.ts'
import { RequestHeader, SetWatches2 } from './records/proto.ts'
import { encode, type TypeOf, ustring } from './type.ts'

/**
 * In bytes. The 128 KiB of ClientCnxn.SET_WATCHES_MAX_LENGTH are over the jute.maxbuffer of some servers: operators lower it, to
 * keep nodes small.
 */
const CHUNK_SIZE = 32 * 1024
const EMPTY_SIZE = RequestHeader.minSize + SetWatches2.minSize

/** The lists of paths in setWatches2, by name. */
type Lists<Paths> = Record<Exclude<keyof typeof SetWatches2.fields, 'relativeZxid'>, Paths>

/** One request. If it has no persistent watches it is a setWatches, which older servers know, too. */
export interface WatchesRequest {
  /** The opcode of the operation. */
  readonly opCode: typeof OpCode.setWatches | typeof OpCode.setWatches2
  /** The body. Encode the body of a setWatches with `SetWatches`: its lists of persistent watches are empty. */
  readonly request: TypeOf<typeof SetWatches2>
}

/**
 * Makes requests that set all these watches. `watched` has the paths of each list of setWatches2. The frame of a request has
 * at most 32 KiB and at most `maxSize` bytes, unless a single path is longer.
 */
export function setWatchesRequests(
  relativeZxid: bigint,
  watched: Readonly<Partial<Lists<Iterable<string> | undefined>>>,
  maxSize = Infinity,
): WatchesRequest[] {
  const requests: (Lists<string[]> & { relativeZxid: bigint })[] = []
  const chunkSize = Math.min(maxSize, CHUNK_SIZE)
  let size = Infinity
  for (const [list, paths] of Object.entries(watched)) {
    for (const path of paths ?? []) {
      const pathSize = encode(ustring, path).byteLength
      if (size + pathSize > chunkSize) {
        requests.push({
          relativeZxid,
          dataWatches: [],
          existWatches: [],
          childWatches: [],
          persistentWatches: [],
          persistentRecursiveWatches: [],
        })
        size = EMPTY_SIZE
      }
      requests.at(-1)![list as keyof typeof watched].push(path)
      size += pathSize
    }
  }
  return requests.map((request) => ({
    opCode:
      (request.persistentWatches[0] ?? request.persistentRecursiveWatches[0]) === undefined
        ? OpCode.setWatches
        : OpCode.setWatches2,
    request,
  }))
}

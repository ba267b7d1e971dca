// Sets the watches again on a new connection: setWatches, or setWatches2 where some are persistent. One request for all
// could be longer than the server's jute.maxbuffer (ZOOKEEPER-706), so there are several.
import { OpCode } from './constants.ts'
import { RequestHeader, SetWatches2 } from './records/proto.ts'
import { encode, type TypeOf, ustring } from './type.ts'

/** As ClientCnxn.SET_WATCHES_MAX_LENGTH, in bytes: far below any jute.maxbuffer. */
const CHUNK_SIZE = 128 * 1024
const EMPTY_SIZE = RequestHeader.minSize + SetWatches2.minSize

/** The lists of setWatches2, by their names. */
type Lists<Paths> = Record<Exclude<keyof typeof SetWatches2.fields, 'relativeZxid'>, Paths>

/** One chunk. Without persistent watches it is a setWatches, which older servers know too. */
export interface WatchesRequest {
  /** The operation: one of two. */
  readonly opCode: typeof OpCode.setWatches | typeof OpCode.setWatches2
  /** Its body. The body of a setWatches has no persistent watches: write it with `SetWatches`. */
  readonly request: TypeOf<typeof SetWatches2>
}

/**
 * Requests with all these paths, each in its list of setWatches2. The frame of a request has at most 128 KiB and at most
 * `maxSize` bytes, unless a single path is longer.
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

// Which errors a client may give when servers, or the network, are not as they should be.
import { inspect } from 'node:util'
import { ConnectError, KeeperError, ProtocolError } from '../../src/index.ts'

/** What is wrong with an error; undefined for one that is documented, or of the network. Causes are looked at, too. */
export function strangeness(error: unknown): string | undefined {
  if (error === undefined) return undefined
  if (!(error instanceof Error)) return `what is no Error: ${inspect(error)}`
  const isOurs = KeeperError.is(error) || ConnectError.is(error) || ProtocolError.is(error)
  // The errors of a failed network. A TypeError, a RangeError and the like would be a failure of the client.
  if (!isOurs && error.constructor !== Error) return error.stack
  if (ConnectError.is(error)) {
    const strange = error.servers.map((attempt) => strangeness(attempt.error)).find((each) => each !== undefined)
    if (strange !== undefined) return strange
  }
  return strangeness(error.cause)
}

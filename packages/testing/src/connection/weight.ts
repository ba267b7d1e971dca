import type { ClientMessage, ServerMessage } from '@zk/wire'

/** What the objects of one part of a multi, or of its result, take beside their bytes. */
const PART = 300
/** A path or a name in a list. */
const LISTED = 48

/** How many bytes a message takes that is kept decoded: its parts may be many more objects than they are bytes. */
export function weight(message: ClientMessage | ServerMessage, size: number): number {
  const body: unknown = message.type === 'request' ? message.request : message.type === 'reply' ? message.response : {}
  if (Array.isArray(body)) return size + body.length * PART
  let listed = 0
  for (const list of Object.values(body ?? {})) if (Array.isArray(list)) listed += list.length
  return size + listed * LISTED
}

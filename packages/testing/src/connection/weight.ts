import type { ClientMessage, ServerMessage } from '@zk/wire'

/** The size of the objects of one operation in a multi, or of its result, without their bytes. */
const PART = 300
/** The size of a path or a name in a list. */
const LISTED = 48

/** The approximate memory of a message that is kept decoded: the objects of its parts may be larger than their bytes. */
export function weight(message: ClientMessage | ServerMessage, size: number): number {
  const body: unknown = message.type === 'request' ? message.request : message.type === 'reply' ? message.response : {}
  if (Array.isArray(body)) return size + body.length * PART
  let listed = 0
  for (const list of Object.values(body ?? {})) if (Array.isArray(list)) listed += list.length
  return size + listed * LISTED
}

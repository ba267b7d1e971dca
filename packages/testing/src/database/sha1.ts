// oxlint-disable-next-line no-restricted-imports -- a hash does no I/O: the same bytes give the same answer
import { createHash } from 'node:crypto'

export const sha1 = (bytes: Uint8Array): Uint8Array => createHash('sha1').update(bytes).digest()

// The sizes of requests that the client and recipes build from many parts.
import { CheckVersionRequest, MultiHeader, RequestHeader } from '@zk/wire'

/**
 * In bytes. Half of the smallest usual jute.maxbuffer: some operators lower it to 64 KiB, to keep nodes small. Only callers make
 * longer requests.
 */
export const BATCH_SIZE = 32 * 1024

/** The limit of all operations of a multi together, in bytes. */
export const MULTI_SIZE = BATCH_SIZE - RequestHeader.minSize - MultiHeader.minSize

const PART_SIZE = MultiHeader.minSize + CheckVersionRequest.minSize

/** The size of an `op.check` or an `op.delete` in a multi, in bytes. */
export function sizeInMulti({ chroot }: { readonly chroot: string }, path: string): number {
  return PART_SIZE + (chroot === '/' ? 0 : utf8Size(chroot)) + utf8Size(path)
}

/** The size of a text in UTF-8, in bytes. (With TextEncoder a path took four times as long.) */
function utf8Size(text: string): number {
  let size = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // Each half of a surrogate pair counts two of its four bytes.
    size += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return size
}

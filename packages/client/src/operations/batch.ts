// The size of the requests that the client and recipes put together from many parts.
import { CheckVersionRequest, MultiHeader, RequestHeader } from '@zk/wire'

/**
 * In bytes. It is half of the smallest jute.maxbuffer that is usual: some operators lower it to 64 KiB, to keep nodes small. A longer
 * request is one that a caller has made.
 */
export const BATCH_SIZE = 32 * 1024

/** How many bytes the operations of a multi may take together. */
export const MULTI_SIZE = BATCH_SIZE - RequestHeader.minSize - MultiHeader.minSize

const PART_SIZE = MultiHeader.minSize + CheckVersionRequest.minSize

/** How many bytes an `op.check` or an `op.delete` takes in a multi. */
export function sizeInMulti({ chroot }: { readonly chroot: string }, path: string): number {
  return PART_SIZE + (chroot === '/' ? 0 : utf8Size(chroot)) + utf8Size(path)
}

/** How many bytes a text has as UTF-8. (With TextEncoder a path took four times as long.) */
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

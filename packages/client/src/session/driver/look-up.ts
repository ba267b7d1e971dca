import type { LookupHandler, Runtime } from '../../runtime/runtime.ts'

/** Has the runtime look up a name. The returned function ends it untold. */
export function lookUp(runtime: Runtime, host: string, handler: LookupHandler): () => void {
  let isOver = false
  const once = (tell: () => void) => {
    if (isOver) return
    isOver = true
    tell()
  }
  try {
    runtime.resolve?.(host, {
      found: (addresses) => once(() => handler.found(addresses)),
      failed: (error) => once(() => handler.failed(error)),
    })
  } catch (error) {
    // A runtime that cannot even try has failed as one that tried.
    once(() => handler.failed(error as Error))
  }
  return () => {
    isOver = true
  }
}

// Garbage collection on demand.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** undefined where the engine has no such thing. */
export function collector(): (() => void) | undefined {
  try {
    setFlagsFromString('--expose-gc')
    const collect: unknown = runInNewContext('gc')
    return typeof collect === 'function' ? () => collect() : undefined
  } catch {
    return undefined
  }
}

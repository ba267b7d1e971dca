import { onAbort } from '../base/aborts.ts'
import type { Runtime } from './runtime.ts'

/** Waits `delay` ms, or until one of the signals aborts. */
export function pause(
  runtime: Pick<Runtime, 'setTimer'>,
  delay: number,
  ...signals: (AbortSignal | undefined)[]
): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some((signal) => signal?.aborted === true)) return resolve()
    const unlisten: (() => void)[] = []
    const end = () => {
      cancel()
      for (const each of unlisten) each()
      resolve()
    }
    const cancel = runtime.setTimer(delay, end)
    for (const signal of signals) if (signal !== undefined) unlisten.push(onAbort(signal, end))
  })
}

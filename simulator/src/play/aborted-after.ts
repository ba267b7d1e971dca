import type { Runtime } from '@zk/client'

/** A signal that aborts after this time unless it is stopped before; undefined for never. */
export function abortedAfter(
  runtime: Pick<Runtime, 'setTimer'>,
  delay: number | undefined,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const aborting = new AbortController()
  const abort = () => aborting.abort(new Error('aborted'))
  const stop = delay === undefined ? () => {} : runtime.setTimer(delay, abort)
  return { signal: aborting.signal, stop }
}

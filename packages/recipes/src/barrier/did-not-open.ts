import { WaitTimeoutError, type WaitTimeoutErrorCode } from '../errors/wait-timeout-error.ts'

/** The error of a wait at a barrier that did not open in time. The nodes that the call created are deleted. */
export function didNotOpen(
  code: WaitTimeoutErrorCode,
  path: string,
  timeout: number,
  missing: string,
  present: readonly string[],
): WaitTimeoutError {
  return new WaitTimeoutError(code, path, `${path} did not open within ${timeout} ms: ${missing}`, { timeout, present })
}

// The settings that a test passes to a worker process, as one JSON argument.
export interface WorkerSettings {
  readonly connectString: string
  readonly path: string
  /** The file of the history log (for `chaos`, its folder). */
  readonly log: string
  readonly name: string
  readonly sessionTimeout: number
  /** The longest usual turn, in ms. @default 0 */
  readonly turn?: number
  /** The time between two calls of `addAuth` with the same credential, in ms. @default none */
  readonly addAuthEvery?: number
  /** The place of a process in a crowd, and how many were there before it. */
  readonly slot?: number
  readonly generation?: number
}

/** Does not outlive its parent, which may be killed. The channel to it does not keep this process from ending. */
export function endWithParent(): void {
  // It may have gone while this process was starting.
  if (!process.connected) process.exit()
  process.once('disconnect', () => process.exit())
  process.channel?.unref()
}

export function readSettings(): WorkerSettings {
  return JSON.parse(process.argv[2] ?? '{}') as WorkerSettings
}

/** The program in the process of a client. */
export interface Participant {
  /** The id of its present session; 0 while it has none. */
  readonly sessionId: bigint
  readonly isConnected: boolean
  /** The last version that it saw of the node that it watches; -1 for none. */
  readonly seen: number
  connect(): Promise<void>
  updateServers(connectString: string): void
  /** Starts its work. Returns promises that must settle. `failed` is called with unexpected errors. */
  begin(failed: (error: unknown) => void): readonly Promise<void>[]
  /** Whether its hold is still held. */
  askAll(): void
  /** Ends what it still has after all its work: memberships, mirrors. */
  finish?(): Promise<void>
  close(): Promise<void>
}

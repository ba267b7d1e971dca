/** What runs in the process of a client. */
export interface Participant {
  /** Of the session it has now; 0 while it has none. */
  readonly sessionId: bigint
  /** Of a node that it watches the last version that it saw; -1 for none. */
  readonly seen: number
  connect(): Promise<void>
  /** Starts all that it has to do. Gives what is to come to an end; `failed` is called with unexpected errors. */
  begin(failed: (error: unknown) => void): readonly Promise<void>[]
  /** Whether what it holds is still held. */
  askAll(): void
  close(): Promise<void>
}

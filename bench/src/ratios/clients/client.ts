/** What a client must offer to be measured. Paths exist unless a method creates them. */
export interface Client {
  get(path: string): Promise<unknown>
  set(path: string, data: Uint8Array): Promise<unknown>
  create(path: string): Promise<unknown>
  delete(path: string): Promise<unknown>
  children(path: string): Promise<unknown>
  /** Resolves when the watch is set. `event` resolves with its event. The node need not exist. */
  watch(path: string): Promise<{ readonly event: Promise<unknown> }>
  /** Waits for the lock at this path. Resolves with a function that releases it. Only @zk knows a timeout, in ms. */
  acquire(path: string, timeout?: number): Promise<() => Promise<unknown>>
  close(): Promise<unknown>
}

export type Connect = (connectString: string) => Promise<Client>

/** In ms. No measurement takes this long. */
export const SESSION_TIMEOUT = 30_000

/** What a client must do to be measured. Paths exist unless a method creates them. */
export interface Client {
  get(path: string): Promise<unknown>
  set(path: string, data: Uint8Array): Promise<unknown>
  create(path: string): Promise<unknown>
  delete(path: string): Promise<unknown>
  children(path: string): Promise<unknown>
  /** Resolves when the watch is set, with a promise of its event. The node need not exist. */
  watch(path: string): Promise<{ readonly event: Promise<unknown> }>
  /** Waits for the lock of this path. Returns what releases it. */
  acquire(path: string): Promise<() => Promise<unknown>>
  close(): Promise<unknown>
}

export type Connect = (connectString: string) => Promise<Client>

/** In ms. No measurement takes so long. */
export const SESSION_TIMEOUT = 30_000

declare module 'node-zookeeper-client' {
  type Callback = (error: Error | null, ...values: unknown[]) => void

  interface Client {
    once(event: 'connected', listener: () => void): void
    connect(): void
    close(): void
    exists(path: string, watcher: (event: unknown) => void, callback: Callback): void
    getData(path: string, callback: Callback): void
    setData(path: string, data: Uint8Array, version: number, callback: Callback): void
    create(path: string, data: Uint8Array | null, mode: number, callback: Callback): void
    remove(path: string, version: number, callback: Callback): void
    getChildren(path: string, callback: Callback): void
  }

  const zookeeper: {
    createClient(connectString: string, options: object): Client
    readonly CreateMode: Readonly<Record<'PERSISTENT' | 'EPHEMERAL_SEQUENTIAL', number>>
  }
  export default zookeeper
}

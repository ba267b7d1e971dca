// The lock of ZooKeeper's recipe page, without more: it has no lease, and if a reply is lost its node stays.
export interface Nodes {
  /** Resolves with the path, including the number. */
  createSequential(prefix: string): Promise<string>
  children(path: string): Promise<readonly string[]>
  watch(path: string): Promise<{ readonly exists: boolean; readonly event: Promise<unknown> }>
  delete(path: string): Promise<unknown>
}

export async function acquireNaively(nodes: Nodes, path: string): Promise<() => Promise<unknown>> {
  const own = await nodes.createSequential(`${path}/lock-`)
  const name = own.slice(path.length + 1)
  for (;;) {
    const names = (await nodes.children(path)).toSorted()
    const place = names.indexOf(name)
    if (place === 0) return () => nodes.delete(own)
    const { exists, event } = await nodes.watch(`${path}/${names[place - 1]!}`)
    if (exists) await event
  }
}

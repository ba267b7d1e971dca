import { parseMntr } from '@zk/conform/internal'
import { type Ensemble, type EnsembleNode } from '../../src/ensemble/index.ts'

export interface ServerWatches {
  /** Paths in a server's data table, below the chroot and without it; each as often as sessions watch it. */
  readonly data: readonly string[]
  /** Number of child watches, of all paths. */
  readonly children: number
}

export const noWatches: ServerWatches = { data: [], children: 0 }

/** The watches that the servers keep. */
export async function serverWatches(ensemble: Ensemble, chroot: string): Promise<ServerWatches> {
  const nodes = await Promise.all(ensemble.nodes.map(watchesAt))
  const paths = nodes.flatMap(({ data }) => data)
  const below = paths.filter((path) => path === chroot || path.startsWith(`${chroot}/`))
  const children = nodes.reduce((sum, node) => sum + node.children, 0)
  return { data: below.map((path) => path.slice(chroot.length) || '/').sort(), children }
}

/** `wchp` and `wchs` show the data table only, and `mntr` only the sum of both (DataTree.dumpWatches, getWatchCount). */
async function watchesAt(node: EnsembleNode): Promise<ServerWatches> {
  for (;;) {
    const data: string[] = []
    let path = ''
    for (const line of (await node.ask('wchp')).split('\n')) {
      if (line.startsWith('/')) path = line
      else if (line.startsWith('\t0x')) data.push(path)
    }
    const all = Number(parseMntr(await node.ask('mntr')).get('zk_watch_count') ?? 0)
    // Between the two commands some may have been removed.
    if (all >= data.length) return { data, children: all - data.length }
  }
}

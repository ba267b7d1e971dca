import type { ZooKeeper } from '@zk/recipes'

export const ROOT = '/mirrored'

/** CuratorCache 5.4 cannot read more than 65,535 nodes (CURATOR-690): it opens one cache of each half. */
export const HALVES = [`${ROOT}/half-0`, `${ROOT}/half-1`] as const

/** Nodes with children, below the halves. */
const FOLDERS = 100
const DATA = new Uint8Array(100).fill(97)
/** Requests under way. */
const WINDOW = 1_000

/** Makes so many nodes of 100 bytes: the root, the halves, their folders, and what is in them. */
export async function makeTree(zk: ZooKeeper, nodes: number): Promise<void> {
  const folders = Array.from({ length: FOLDERS }, (_, folder) => `${HALVES[folder % 2]!}/folder-${folder}`)
  await zk.create(ROOT, DATA)
  for (const half of HALVES) await zk.create(half, DATA)
  await Promise.all(folders.map((path) => zk.create(path, DATA)))
  let next = 0
  const last = nodes - 1 - HALVES.length - FOLDERS
  const make = async () => {
    while (next < last) {
      const node = next++
      await zk.create(`${folders[node % FOLDERS]}/node-${String(node).padStart(10, '0')}`, DATA)
    }
  }
  await Promise.all(Array.from({ length: WINDOW }, make))
}

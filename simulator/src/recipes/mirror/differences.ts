// Differences between the tree, the mirrors, and what readers of the mirrors were told.
import type { MirroredContent } from '../../history/mirror.ts'
import { PATH } from '../../play/paths.ts'
import type { Target } from '../../strikes/index.ts'
import { contentsOf, MirrorProgram } from './program.ts'

/** Between the tree, what mirrors show, and what their readers were told. */
export function mirrorDifferences({ model, clients }: Target): string[] {
  if (model.leader === undefined) return ['there is no leader']
  const read = (path: string): MirroredContent[] => {
    const node = model.nodes.get(path)
    if (node === undefined) return []
    const { data, stat } = node
    const own = { path, czxid: stat.czxid, mzxid: stat.mzxid, text: Buffer.from(data).toString() }
    return [own, ...node.children.flatMap((name) => read(`${path}/${name}`))]
  }
  const tree = read(PATH)
  const levels = (path: string) => path.slice(PATH.length).split('/').length - 1
  const found: string[] = []
  for (const [client, { process, program }] of clients.entries()) {
    if (process.isKilled || !(program instanceof MirrorProgram)) continue
    for (const { mirror, depth = Infinity, told } of program.open) {
      const truth = keyOf(tree.filter(({ path }) => levels(path) <= depth))
      if (mirror.isStale) found.push(`a mirror of client ${client} is stale`)
      if (keyOf(contentsOf(mirror)) !== truth) found.push(`a mirror of client ${client} does not show the tree`)
      if (keyOf([...told.values()]) !== truth) found.push(`a reader of client ${client} was not told the tree`)
    }
  }
  return found
}

function keyOf(nodes: readonly MirroredContent[]): string {
  return nodes
    .map(({ path, czxid, mzxid, text }) => `${path} ${czxid} ${mzxid} ${text}`)
    .sort()
    .join('\n')
}

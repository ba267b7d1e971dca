// What is not yet as the members of a group and its observers have it.
import { PATH } from '../../play/paths.ts'
import type { Target } from '../../strikes/index.ts'
import { GroupProgram } from './program.ts'

/** Between the nodes of the group, the memberships that have not ended, and what observers saw last. */
export function groupDifferences({ model, clients }: Target): string[] {
  if (model.leader === undefined) return ['there is no leader']
  const nodes = new Map(
    (model.nodes.get(PATH)?.children ?? []).map((name) => {
      const { data, stat } = model.nodes.get(`${PATH}/${name}`)!
      return [name, { text: Buffer.from(data).toString(), stat }]
    }),
  )
  const truth = [...nodes].map(([name, { text, stat }]) => `${name}@${stat.czxid}=${text}`).sort()
  const found: string[] = []
  const owned = new Set<string>()
  for (const [client, { process, program }] of clients.entries()) {
    if (process.isKilled || !(program instanceof GroupProgram)) continue
    for (const { membership, text } of program.standing) {
      const node = nodes.get(membership.name)
      owned.add(membership.name)
      const { state } = membership
      if (state.name !== 'present') found.push(`${membership.name} of client ${client} is ${state.name}`)
      else if (node?.stat.czxid !== state.czxid) found.push(`${membership.name} of client ${client} has no node`)
      else if (node.text !== text) found.push(`${membership.name} holds ${node.text}, not ${text}`)
    }
    const listed = program.listed?.map(({ name, czxid, text }) => `${name}@${czxid}=${text}`).sort()
    if (program.observes && String(listed) !== String(truth)) {
      found.push(`client ${client} saw ${String(listed)} last, and there is ${String(truth)}`)
    }
  }
  for (const name of nodes.keys()) if (!owned.has(name)) found.push(`${name} is of no member`)
  return found
}

// Waits until a group is as its members have it, and lets all of them leave.
import type { Stage } from './stage.ts'
import { GroupProgram } from './group-program.ts'
import { PATH } from './paths.ts'

const LOOK_EVERY = 250

/** What is not as it should be before all leave. */
export async function standAndLeave(stage: Stage, patience: number): Promise<readonly string[]> {
  const { world } = stage
  const deadline = world.now + patience
  while (world.now < deadline && differences(stage).length > 0) await world.run(world.now + LOOK_EVERY)
  const left = differences(stage)
  const leaving = new Set<number>()
  for (const [client, { process, program }] of stage.clients.entries()) {
    if (process.isKilled || !(program instanceof GroupProgram)) continue
    leaving.add(client)
    process.run(() => {
      program.finish().then(
        () => leaving.delete(client),
        (error: unknown) => stage.fail(`finish of client ${client}: ${String(error)}`),
      )
    })
  }
  await world.run(world.now + patience, () => leaving.size === 0)
  return [...left, ...Array.from(leaving, (client) => `client ${client} does not finish`)]
}

/** Between the nodes of the group, the memberships that have not ended, and what observers saw last. */
function differences({ model, clients }: Stage): string[] {
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

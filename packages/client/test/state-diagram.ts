import { transitions } from '../src/session/protocol/states.ts'

const FIRST = 'waiting'
const LAST = 'ended'

/** The table of `states.ts` as a Mermaid diagram: what stands in ARCHITECTURE.md. */
export function stateDiagram(): string {
  const ways = Object.entries(transitions).flatMap(([from, targets]) => {
    const triggers = Object.entries<string>(targets)
    return [...new Set(triggers.map(([, to]) => to))].map((to) => {
      const along = triggers.filter(([, each]) => each === to).map(([trigger]) => trigger)
      return `    ${from} --> ${to}: ${along.join(', ')}`
    })
  })
  return ['```mermaid', 'stateDiagram-v2', `    [*] --> ${FIRST}`, ...ways, `    ${LAST} --> [*]`, '```'].join('\n')
}

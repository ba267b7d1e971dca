import { phases, transitions } from '../../src/session/protocol/states.ts'

/** The tables of `states.ts` as Mermaid diagrams: what stands in ARCHITECTURE.md. */
export function stateDiagrams(): string {
  return [diagramOf(phases, 'open'), diagramOf(transitions, 'waiting')].join('\n\n')
}

function diagramOf(table: Readonly<Record<string, object>>, first: string): string {
  const ways = Object.entries(table).flatMap(([from, targets]) => {
    const triggers = Object.entries<string>(targets as Record<string, string>)
    return [...new Set(triggers.map(([, to]) => to))].map((to) => {
      const along = triggers.filter(([, each]) => each === to).map(([trigger]) => trigger)
      return `    ${from} --> ${to}: ${along.join(', ')}`
    })
  })
  return ['```mermaid', 'stateDiagram-v2', `    [*] --> ${first}`, ...ways, '    ended --> [*]', '```'].join('\n')
}

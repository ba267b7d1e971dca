import type { PlantedBug } from './bug.ts'

/** Mistakes that ours could have had, with several locks at once. */
export const locksBugs: readonly PlantedBug[] = [
  {
    name: 'a MultiLock makes its nodes one after the other',
    recipe: 'MultiLock',
    edits: [
      {
        in: 'ProtectedCreate.#createAll',
        find: 'const created = await this.#zk.multi(creates, this.#pinned)',
        replace:
          'const created = []\n    for (const each of creates) created.push(...(await this.#zk.multi([each], this.#pinned)))',
      },
    ],
  },
  {
    name: 'a MultiLock is granted when one of its queues is free',
    recipe: 'MultiLock',
    edits: [
      {
        in: 'Contender.#competeInAll',
        find: 'Promise.all(this.#lines.map(reach))',
        replace: 'Promise.race(this.#lines.map(reach)).then((front) => [front])',
      },
    ],
  },
  {
    name: 'a MultiLock checks its first node only before a grant',
    recipe: 'MultiLock',
    edits: [{ in: 'Contender.confirm', find: 'checksOf(nodes)', replace: 'checksOf([nodes[0]])' }],
  },
  {
    name: 'a MultiLock that leaves deletes its first node only',
    recipe: 'MultiLock',
    edits: [
      { in: 'Contender.#remove', find: 'const placed = nodes.map(', replace: 'const placed = nodes.slice(0, 1).map(' },
    ],
  },
  {
    name: 'the line of a contender is that of its node of the same name in another queue',
    recipe: 'MultiLock',
    edits: [
      {
        in: 'Line.join',
        find: 'this.#linesOfSession.set(node.path, this)',
        replace: 'this.#linesOfSession.set(node.name.name, this)',
      },
      {
        in: 'Line.#turn',
        find: 'this.#linesOfSession.get(this.queue.pathOf(only.name))',
        replace: 'this.#linesOfSession.get(only.name)',
      },
    ],
  },
]

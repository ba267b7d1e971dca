import type { PlantedBug } from './bug.ts'

/** Mistakes that ours could have had, with several locks at once, and with those that look for deadlocks. */
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
    name: 'a task that waits looks for a cycle, and does not read for what others wait',
    recipe: 'NestedLocks',
    edits: [{ in: 'Search.#say', find: 'node.stat.mzxid < this.#before ? waitsFor : []', replace: '[]' }],
  },
  {
    name: 'every task of a cycle rejects',
    recipe: 'NestedLocks',
    edits: [{ in: 'Search.#say', find: 'node.stat.mzxid < this.#before ? waitsFor : []', replace: 'waitsFor' }],
  },
  {
    name: 'only the last node of a task says for what it waits',
    recipe: 'NestedLocks',
    edits: [
      {
        in: 'Task.#write',
        find: 'const sayings = [...this.#sayings.values()]',
        replace: 'const sayings = [...this.#sayings.values()].slice(-1)',
      },
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
  {
    name: 'a task that waits does not notice that one of its nodes is deleted',
    recipe: 'NestedLocks',
    edits: [
      { in: 'Task.#write', find: 'each.watchOwn()', replace: 'each.path' },
      {
        in: 'Contender.#competeInAll',
        find: 'await (mustWatch ? this.#whileAllExist(reaching) : reaching)',
        replace: 'await reaching',
      },
    ],
  },
]

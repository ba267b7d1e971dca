import type { PlantedBug } from './bug.ts'

const recipe = 'Semaphore'

/** Mistakes with which some semaphore was shipped, or which ours could have had. */
export const semaphoreBugs: readonly PlantedBug[] = [
  {
    name: 'permits are tried for without being first in line (kazoo#213)',
    recipe,
    edits: [
      {
        in: 'Contender.#isBlocked',
        find: 'this.#lines.some(({ isNext }) => !isNext)',
        replace: 'false as boolean',
      },
    ],
  },
  {
    name: 'permits are taken in one transaction, and the line is left in the next',
    recipe,
    edits: [
      {
        in: 'PermitContender.#take',
        find: 'const ops = [op.delete(node.path),',
        replace: 'const ops = [op.check(node.path),',
      },
      {
        in: 'PermitContender.#take',
        find: 'await taking\n',
        replace: 'await taking\n      await this.#contender.leave()\n',
      },
    ],
  },
  {
    name: 'a contender that is woken goes by the list of a server that is behind',
    recipe,
    faults: ['lag', 'drop'],
    edits: [{ in: 'PermitContender.#isGone', find: '(stat) => stat === undefined', replace: '() => true' }],
  },
  {
    name: 'permits are granted by a number that has changed since',
    recipe,
    edits: [
      {
        in: 'PermitContender.#take',
        find: 'op.check(this.#stored.path, { version })',
        replace: 'op.check(this.#stored.path, { version: version * 0 - 1 })',
      },
    ],
  },
  {
    name: 'an acquire that ends during its transaction leaves its permits (CURATOR-462)',
    recipe,
    edits: [
      {
        in: 'PermitContender.#remove',
        find: 'this.#uuid === undefined ? [] : await this.#made(this.#uuid)',
        replace: '[]',
      },
    ],
  },
  {
    name: 'a contender takes the permits of its lost transaction for those of another (CURATOR-335)',
    recipe,
    edits: [
      {
        in: 'PermitContender.#ownIn',
        find: 'return this.#leases.ofContender(uuid, names)',
        replace: 'return names.length < 0 ? this.#leases.ofContender(uuid, names) : []',
      },
      {
        in: 'PermitContender.#made',
        find: 'this.#leases.ofContender(uuid, names)',
        replace: 'this.#leases.ofContender(`${uuid}?`, names)',
      },
    ],
  },
  {
    name: 'the smallest permit is given, whoever has it',
    recipe,
    edits: [{ in: 'Leases.free', find: 'if (!taken.has(permit))', replace: 'if (taken.size >= 0)' }],
  },
]

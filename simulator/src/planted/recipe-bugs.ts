import type { PlantedBug } from './bug.ts'

const contender = 'recipes/src/contender.ts'
const contended = 'recipes/src/contended.ts'
const held = 'recipes/src/held.ts'
const holdings = 'recipes/src/holdings.ts'
const roles = 'recipes/src/roles.ts'

/** Each a mistake that some lock recipe was shipped with, or that ours could have been. */
export const recipeBugs: readonly PlantedBug[] = [
  {
    name: 'granted without a committed check',
    edits: [
      {
        file: contender,
        find: 'await persist(zk.runtime, () => zk.multi([op.check(node.path)], this.#pinned)).catch(vanishedIfMissing)',
        replace: 'await persist(zk.runtime, () => zk.exists(node.path, this.#pinned)).catch(vanishedIfMissing)',
      },
    ],
  },
  {
    name: 'a wake-up is a grant',
    edits: [
      {
        file: contender,
        find: 'if (isNext) return await this.#confirm(place.node)',
        replace: 'if (isNext) return place.node',
      },
    ],
  },
  {
    name: 'a list that was read late is taken for older than the check',
    faults: ['throttle'],
    edits: [{ file: contender, find: 'confirmed: looks === 1 }', replace: 'confirmed: true }' }],
  },
  {
    name: 'the check after a wake-up goes before the list',
    faults: ['slow', 'delayRequest'],
    edits: [
      {
        file: contender,
        find: 'let looks = 0\n',
        replace: 'let looks = 0\n    const confirming = this.#confirm(node)\n',
      },
      {
        file: contender,
        find: 'await this.#confirm(node)\n    const list',
        replace: 'await confirming\n    const list',
      },
    ],
  },
  {
    name: 'whoever was woken is next, whoever else is ahead',
    edits: [
      {
        file: contender,
        find: 'const isNext = this.#role.aheadOnlyShrinks && place.ahead.length === 1',
        replace: 'const isNext = true as boolean',
      },
    ],
  },
  {
    name: 'a create whose reply was lost is repeated without a search',
    edits: [
      {
        file: contender,
        find: 'if (KeeperError.is(error) && error.outcomeUnknown) return await this.#find()',
        replace: 'if (KeeperError.is(error) && error.outcomeUnknown) return undefined',
      },
      {
        file: contender,
        find: 'return wasUnanswered ? await this.#find() : ',
        replace: 'return wasUnanswered && false ? undefined : ',
      },
    ],
  },
  {
    name: 'an acquire that fails leaves its node',
    edits: [{ file: contended, find: 'if (held === undefined) contender.leave().catch(() => {})', replace: '' }],
  },
  {
    name: 'leaving does not wait for the create under way',
    edits: [
      {
        file: contender,
        find: 'const node = await this.#entering?.catch(() => undefined)',
        replace: 'const node = await Promise.race([this.#entering?.catch(() => undefined), undefined])',
      },
    ],
  },
  {
    name: 'a release that fails is not repeated',
    edits: [
      {
        file: contender,
        find: 'await persist(zk.runtime, () => zk.delete(path, this.#pinned))',
        replace: 'await zk.delete(path, this.#pinned)',
      },
    ],
  },
  {
    name: 'a release resolves before the node is gone',
    edits: [
      {
        file: held,
        find: 'await patience.during(this.#contender.leave())',
        replace: 'await patience.during(Promise.race([this.#contender.leave(), Promise.resolve()]))',
      },
    ],
  },
  {
    name: 'a reader looks at the one right before it only',
    edits: [
      {
        file: roles,
        find: "blocker: (ahead) => ahead.findLast(({ kind }) => kind === 'write'),",
        replace: "blocker: (ahead) => (ahead.at(-1)?.kind === 'write' ? ahead.at(-1) : undefined),",
      },
    ],
  },
  {
    name: 'a writer does not wait for readers',
    edits: [
      {
        file: roles,
        find: "{ kind: 'write', rivals: ['read', 'write'], blocker: last,",
        replace:
          "{ kind: 'write', rivals: ['read', 'write'], blocker: (ahead) => ahead.findLast(({ kind }) => kind === 'write'),",
      },
    ],
  },
  {
    name: 'everybody watches the one who holds',
    edits: [{ file: roles, find: 'ahead.at(-1)', replace: 'ahead.at(0)' }],
  },
  {
    name: 'waits for a predecessor that is gone',
    edits: [
      {
        file: contender,
        find: 'if (watch === undefined) return\n',
        replace: 'if (watch === undefined) return await new Promise(() => {})\n',
      },
    ],
  },
  {
    name: 'an `exists` on a vanished predecessor leaves a watch and waits',
    edits: [
      {
        file: contender,
        find: 'const watching = () => zk.getDataAndWatch(path, this.#pinned)',
        replace: 'const watching = () => zk.existsAndWatch(path, this.#pinned)',
      },
    ],
  },
  {
    name: 'a holder is not told that its connection is lost',
    edits: [
      {
        file: holdings,
        find: "const disconnected = () => this.#loseAll('Disconnected', connection.signal.reason)",
        replace: 'const disconnected = () => {}',
      },
    ],
  },
  {
    name: 'the fencing token is the sequence number',
    edits: [
      { file: held, find: 'this.fencingToken = node.czxid', replace: 'this.fencingToken = BigInt(node.name.sequence)' },
    ],
  },
  {
    name: 'guarded writes are not guarded',
    edits: [
      { file: held, find: 'this.#zk.multi([this.checkOp, ...ops]', replace: "this.#zk.multi([op.check('/'), ...ops]" },
    ],
  },
  {
    name: 'what is lost may be held again',
    edits: [
      {
        file: held,
        find: 'return !this.signal.aborted',
        replace: "return !this.signal.aborted || String(this.signal.reason).includes('connection')",
      },
    ],
  },
  {
    name: 'contenders are sorted as text',
    edits: [
      {
        file: 'recipes/src/queue.ts',
        find: '.sort((one, other) => one.sequence - other.sequence)',
        replace: '.sort((one, other) => (one.name < other.name ? -1 : 1))',
      },
    ],
  },
  {
    name: 'an acquire does not time out',
    edits: [
      {
        file: 'recipes/src/patience.ts',
        find: 'return await Promise.race([promise, this.#over])',
        replace: 'return await promise',
      },
    ],
  },
  {
    name: 'a waiter whose session expired does not queue again',
    edits: [{ file: contended, find: 'if (hasNextSession) return undefined', replace: '' }],
  },
  {
    name: 'a missing parent is an error',
    edits: [
      {
        file: contender,
        find: "if (KeeperError.is(error, 'NoNode')) {\n      if (this.#leaving",
        replace: "if (KeeperError.is(error, 'BadVersion')) {\n      if (this.#leaving",
      },
    ],
  },
  {
    name: 'tryAcquire does not look who is ahead of its node',
    edits: [
      {
        file: contender,
        find: 'if (this.#role.blocker(place.ahead) !== undefined) return undefined\n',
        replace: '',
      },
    ],
  },
]

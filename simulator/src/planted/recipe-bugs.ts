import type { PlantedBug } from './bug.ts'

const contender = 'recipes/src/queue/contender.ts'
const create = 'recipes/src/queue/protected-create.ts'
const contended = 'recipes/src/queue/queue-lock.ts'
const held = 'recipes/src/held.ts'
const confirmation = 'recipes/src/lease/lease-renewal.ts'
const firstLease = 'recipes/src/lease/lease-renewal.ts'
const leaseTimes = 'recipes/src/lease/lease.ts'
const relay = 'recipes/src/lease/relay.ts'
const roles = 'recipes/src/queue/roles.ts'

const endless = {
  file: firstLease,
  find: 'if (!isLeased(terms)) return',
  replace: 'return',
}

/** Each a mistake that some lock recipe was shipped with, or that ours could have been. */
export const recipeBugs: readonly PlantedBug[] = [
  {
    name: 'granted without a committed check',
    edits: [
      {
        file: contender,
        find: 'return await zk.multi([op.check(node.path)], this.#pinned)',
        replace: 'return await zk.exists(node.path, this.#pinned)',
      },
    ],
  },
  {
    name: 'a wake-up is a grant',
    edits: [
      {
        file: contender,
        find: 'if (isNext) return await this.#confirm(place.node)',
        replace: 'if (isNext) return { node: place.node, touch: this.#known()?.touch }',
      },
    ],
  },
  {
    name: 'a list that was read late is taken for older than the check',
    edits: [{ file: contender, find: 'looks === 1 ? grant : undefined', replace: 'grant' }],
  },
  {
    name: 'the check after a wake-up goes before the list',
    edits: [
      {
        file: contender,
        find: 'let looks = 0\n',
        replace: 'let looks = 0\n    const confirming = this.#confirm(node, asking)\n',
      },
      {
        file: contender,
        find: 'const grant = await this.#confirm(node, asking)',
        replace: 'const grant = await confirming',
      },
    ],
  },
  {
    name: 'whoever was woken is next, whoever else is ahead',
    edits: [
      {
        file: contender,
        find: 'const isNext = this.#role.aheadOnlyShrinks && this.#role.blockers(this.#ahead).length === 0',
        replace: 'const isNext = true as boolean',
      },
    ],
  },
  {
    name: 'a create whose reply was lost is repeated without a search',
    edits: [
      {
        file: create,
        find: 'return unanswered > 1 ? await this.#findForCertain() : await this.#find()',
        replace: 'return undefined',
      },
      {
        file: create,
        find: 'return unanswered > 0 ? await this.#find() : ',
        replace: 'return unanswered < 0 ? undefined : ',
      },
    ],
  },
  {
    name: 'an acquire that fails leaves its node',
    edits: [{ file: contended, find: 'if (held === undefined) leave()', replace: '' }],
  },
  {
    name: 'leaving does not wait for the create under way',
    edits: [
      {
        file: contender,
        find: '(await this.#entering?.catch(() => undefined))',
        replace: '(await Promise.race([this.#entering?.catch(() => undefined), undefined]))',
      },
    ],
  },
  {
    name: 'a release that fails is not repeated',
    edits: [
      {
        file: create,
        find: 'await retry(zk.runtime, () => zk.delete(path, { session }))',
        replace: 'await zk.delete(path, { session })',
      },
    ],
  },
  {
    name: 'a release resolves before the node is gone',
    edits: [
      {
        file: held,
        find: 'await limit.during(this.#owner.leave())',
        replace: 'await limit.during(Promise.race([this.#owner.leave(), Promise.resolve()]))',
      },
    ],
  },
  {
    name: 'a reader looks at the one right before it only',
    edits: [
      {
        file: roles,
        find: 'blockers: (ahead) => last(ahead.filter(({ kind }) => kind === write)),',
        replace: 'blockers: (ahead) => last(ahead).filter(({ kind }) => kind === write),',
      },
    ],
  },
  {
    name: 'a writer does not wait for readers',
    edits: [
      {
        file: roles,
        find: '{ kind: write, rivals: [read, write], blockers: last,',
        replace:
          '{ kind: write, rivals: [read, write], blockers: (ahead) => last(ahead.filter(({ kind }) => kind === write)),',
      },
    ],
  },
  {
    name: 'everybody watches the one who holds',
    edits: [{ file: roles, find: 'ahead.slice(-1)', replace: 'ahead.slice(0, 1)' }],
  },
  {
    name: 'waits for a predecessor that is gone',
    edits: [
      {
        file: contender,
        find: 'if (watch === undefined) return blocker\n',
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
    name: 'a lock is held as long as its session is not known to be over',
    edits: [{ file: held, find: "this.#terms.heldWhile ?? 'confirmed'", replace: "'sessionAlive'" }, endless],
  },
  {
    name: 'a lock is held as long as its connection stands',
    edits: [{ file: held, find: "this.#terms.heldWhile ?? 'confirmed'", replace: "'connected'" }, endless],
  },
  {
    name: 'a lease is counted from the answer',
    edits: [
      {
        file: confirmation,
        find: 'return { touched, ...proof }',
        replace: 'return { touched: timestamp(this.#zk.runtime), ...proof }',
      },
    ],
  },
  {
    name: 'a grant is held for a quarter of T before anything is proven',
    edits: [
      {
        file: firstLease,
        find: 'const followerRelayDelay = followerRelayDelayOf(terms, session)',
        replace: `if (touch !== undefined) return new Lease(runtime, timestamp(runtime), () => session.shortestTimeout / 4)
  const followerRelayDelay = followerRelayDelayOf(terms, session)`,
      },
      { file: relay, find: '>= leaseTimes.recent(T) ? touch : undefined', replace: '>= -Infinity ? touch : undefined' },
    ],
  },
  {
    name: 'a lease is reckoned from the timeout that was agreed on last',
    edits: [
      {
        file: 'client/src/session/protocol/identity.ts',
        find: 'this.shortestTimeout = config.resume.shortestTimeout ?? 0',
        replace: 'this.shortestTimeout = config.sessionTimeout',
      },
    ],
  },
  {
    name: 'a lease lasts as long as T again',
    edits: [{ file: leaseTimes, find: 'Math.floor(T * 0.98) - 50', replace: 'T * 2' }],
  },
  {
    name: 'isHeld does not look at the clock, and no timer does for it',
    edits: [
      { file: held, find: "if (this.lease.remaining <= 0) this.lose('LeaseLost')", replace: '' },
      {
        file: 'recipes/src/lease/lease-keeper.ts',
        find: "if (remaining <= 0) holding.lose('LeaseLost', this.#doubt)",
        replace: 'if (remaining <= 0) next = Infinity',
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
        replace: "return !this.signal.aborted || String(this.signal.reason).includes('lease')",
      },
    ],
  },
  {
    name: 'nobody comes in ahead of a writer',
    edits: [
      {
        file: roles,
        find: 'rivals: [read, write], blockers: last, aheadOnlyShrinks: false',
        replace: 'rivals: [read, write], blockers: last, aheadOnlyShrinks: true',
      },
    ],
  },
  {
    name: 'a downgrade makes the reader behind the writer, not in its place',
    edits: [
      {
        file: 'recipes/src/write-held.ts',
        find: "await this.#zk.multi([op.create(path, data, { mode: 'EPHEMERAL', acl }), op.delete(this.#writer)], { session })",
        replace:
          "await this.#zk.delete(this.#writer, { session })\n      await this.#zk.create(path, data, { mode: 'EPHEMERAL', acl, session })",
      },
    ],
  },
  {
    name: 'contenders are sorted as text',
    edits: [
      {
        file: 'recipes/src/queue/queue.ts',
        find: '.sort((one, other) => bySequence(one, other) || Number(this.#mayFollow(one)) - Number(this.#mayFollow(other)))',
        replace: '.sort((one, other) => (one.name < other.name ? -1 : 1))',
      },
    ],
  },
  {
    name: 'an acquire does not time out',
    edits: [
      {
        file: 'recipes/src/queue/wait.ts',
        find: 'return await Promise.race([promise, this.#over])',
        replace: 'return await promise',
      },
    ],
  },
  {
    name: 'a waiter whose session expired does not queue again',
    edits: [
      {
        file: contended,
        find: 'if (hasNextSession && !wasAborted(error, options.signal)) return undefined',
        replace: '',
      },
    ],
  },
  {
    name: 'a missing parent is an error',
    edits: [
      {
        file: create,
        find: "if (KeeperError.is(error, 'NoNode')) {",
        replace: "if (KeeperError.is(error, 'BadVersion')) {",
      },
    ],
  },
  {
    name: 'tryAcquire does not look who is ahead of its node',
    edits: [
      {
        file: contender,
        find: 'if (this.#role.blockers(place.ahead).length > 0) return undefined\n',
        replace: '',
      },
    ],
  },
]

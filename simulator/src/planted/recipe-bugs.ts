import type { PlantedBug } from './bug.ts'

const endless = {
  in: 'firstLease',
  find: 'if (!isLeased(terms)) return',
  replace: 'return',
}

/** Mistakes with which some lock recipe was shipped, or which ours could have had. */
export const recipeBugs: readonly PlantedBug[] = [
  {
    name: 'granted without a committed check',
    edits: [
      {
        in: 'Contender.confirm',
        find: 'return await zk.multi(checksOf(nodes), this.#pinned)',
        replace: 'return await zk.exists(nodes[0].path, this.#pinned)',
      },
    ],
  },
  {
    name: 'a wake-up is a grant',
    edits: [
      {
        in: 'Contender.compete',
        find: 'grant ?? this.confirm()',
        replace: 'grant ?? { nodes: this.#nodes, touch: this.#notedNow()?.touch }',
      },
    ],
  },
  {
    name: 'a list that was read late is taken for older than the check',
    edits: [{ in: 'Contender.#lookAndConfirm', find: 'looks === 1 ? grant : undefined', replace: 'grant' }],
  },
  {
    name: 'the check after a wake-up goes before the list',
    edits: [
      {
        in: 'Contender.#lookAndConfirm',
        find: 'let looks = 0\n',
        replace: 'let looks = 0\n    const confirming = this.confirm(noted)\n',
      },
      {
        in: 'Contender.#lookAndConfirm',
        find: 'const grant = await this.confirm(noted)',
        replace: 'const grant = await confirming',
      },
    ],
  },
  {
    name: 'a woken contender is next, whatever others are ahead',
    edits: [
      {
        in: 'Line.reachFront',
        find: 'if (this.#isNext) return await arrived',
        replace: 'return await arrived',
      },
    ],
  },
  {
    name: 'a contender behind one of its own session is next when that one leaves, even if that one was not',
    edits: [{ in: 'Line.reachFront', find: 'rest.blocker?.isNext === true', replace: 'rest.blocker !== undefined' }],
  },
  {
    name: 'a create whose reply was lost is repeated without a search',
    edits: [
      {
        in: 'ProtectedCreate.#afterFailure',
        find: 'return this.#unanswered > 1 ? await this.#findForCertain() : await this.#find()',
        replace: 'return undefined',
      },
      {
        in: 'ProtectedCreate.make',
        find: 'if (this.#unanswered > 0) return await this.#find()',
        replace: 'if (this.#unanswered < 0) return undefined',
      },
      {
        in: 'ProtectedCreate.deleteLate',
        find: 'if (this.#unanswered === 0) return\n',
        replace: 'if (this.#unanswered >= 0) return\n',
      },
    ],
  },
  {
    name: 'an acquire that fails leaves its node',
    edits: [{ in: 'QueueLock.#hold', find: 'if (held === undefined) leave()', replace: '' }],
  },
  {
    name: 'leaving does not wait for the create under way',
    edits: [
      {
        in: 'Contender.#remove',
        find: '(await this.#entering?.catch(() => undefined))',
        replace: '(await Promise.race([this.#entering?.catch(() => undefined), undefined]))',
      },
    ],
  },
  {
    name: 'a release that fails is not repeated',
    edits: [
      {
        in: 'deleteNode',
        find: 'retry(zk, () => zk.delete(path, SessionOptions.of(session).bound))',
        replace: 'zk.delete(path, { session })',
      },
    ],
  },
  {
    name: 'a release resolves before the node is gone',
    edits: [
      {
        in: 'Held.release',
        find: 'await limit.during(this.#owner.leave())',
        replace: 'await limit.during(Promise.race([this.#owner.leave(), Promise.resolve()]))',
      },
    ],
  },
  {
    name: 'a reader looks at the one right before it only',
    edits: [
      {
        in: 'reader',
        find: 'blockers: (ahead) => ahead.last(1, write)',
        replace: 'blockers: (ahead) => last(ahead).filter(({ kind }) => kind === write)',
      },
    ],
  },
  {
    name: 'a writer does not wait for readers',
    edits: [
      {
        in: 'writer',
        find: '{ kind: write, rivals: [read, write], blockers: last,',
        replace: '{ kind: write, rivals: [read, write], blockers: (ahead) => ahead.last(1, write),',
      },
    ],
  },
  {
    name: 'every contender watches the holder',
    edits: [{ in: 'last', find: 'ahead.last(1)', replace: 'ahead.all.slice(0, 1)' }],
  },
  {
    name: 'waits for a predecessor that is gone',
    edits: [
      {
        in: 'Line.#gone',
        find: 'if (watch === undefined) return blocker\n',
        replace: 'if (watch === undefined) return await new Promise(() => {})\n',
      },
    ],
  },
  {
    name: 'an `exists` on a vanished predecessor leaves a watch and waits',
    edits: [
      {
        in: 'Line.#gone',
        find: 'zk.getDataAndWatch(path, options)',
        replace: 'zk.existsAndWatch(path, options)',
      },
    ],
  },
  {
    name: 'a lock is held as long as its session is not known to be over',
    edits: [{ in: 'Held.heldWhile', find: "this.#terms.heldWhile ?? 'confirmed'", replace: "'sessionAlive'" }, endless],
  },
  {
    name: 'a lock is held as long as its connection stands',
    edits: [{ in: 'Held.heldWhile', find: "this.#terms.heldWhile ?? 'confirmed'", replace: "'connected'" }, endless],
  },
  {
    name: 'a lease is counted from the answer',
    edits: [
      {
        in: 'LeaseRenewal.prove',
        find: 'return { touched, ...proof }',
        replace: 'return { touched: timestamp(this.#zk.runtime), ...proof }',
      },
    ],
  },
  {
    name: 'a grant is held for a quarter of T before anything is proven',
    edits: [
      {
        in: 'firstLease',
        find: 'const followerRelayDelay = followerRelayDelayOf(terms, session)',
        replace: `if (touch !== undefined) return new Lease(runtime, timestamp(runtime), () => session.shortestTimeout / 4)
  const followerRelayDelay = followerRelayDelayOf(terms, session)`,
      },
      {
        in: 'Relay.known',
        find: '>= leaseTimes.recent(T) ? touch : undefined',
        replace: '>= -Infinity ? touch : undefined',
      },
    ],
  },
  {
    name: 'a lease is reckoned from the timeout that was agreed on last',
    edits: [
      {
        in: 'Identity.constructor',
        find: 'this.shortestTimeout = config.resume.shortestTimeout ?? 0',
        replace: 'this.shortestTimeout = config.sessionTimeout',
      },
    ],
  },
  {
    name: 'a lease lasts as long as T again',
    edits: [{ in: 'leaseTimes.proven', find: 'Math.floor(T * 0.98) - 50', replace: 'T * 2' }],
  },
  {
    name: 'isHeld does not look at the clock, and no timer does for it',
    edits: [
      {
        in: 'Held.isHeld',
        find: "if (this.lease.remaining <= 0) this.lose('LeaseLost', this.#keeper.doubt)",
        replace: '',
      },
      {
        in: 'LeaseKeeper.#awake',
        find: "if (remaining <= 0) holding.lose('LeaseLost', this.#doubt)",
        replace: 'if (remaining <= 0) next = Infinity',
      },
    ],
  },
  {
    name: 'the fencing token is the sequence number',
    edits: [
      {
        in: 'Held.constructor',
        find: 'this.fencingToken = node.czxid',
        replace: 'this.fencingToken = BigInt(node.name.sequence)',
      },
    ],
  },
  {
    name: 'guarded writes are not guarded',
    edits: [
      {
        in: 'Held.multi',
        find: 'this.#zk.multi([...checks, ...ops]',
        replace: "this.#zk.multi([...checks.map(() => op.check('/')), ...ops]",
      },
    ],
  },
  {
    name: 'what is lost may be held again',
    edits: [
      {
        in: 'Held.isHeld',
        find: 'return this.#loss === undefined',
        replace: "return this.#loss === undefined || this.#loss.reason === 'LeaseLost'",
      },
    ],
  },
  {
    name: 'no contender comes in ahead of a writer',
    edits: [{ in: 'writer', find: 'aheadOnlyShrinks: false', replace: 'aheadOnlyShrinks: true' }],
  },
  {
    name: 'a downgrade makes the reader behind the writer, not in its place',
    edits: [
      {
        in: 'Downgrade.#isCommitted',
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
        in: 'ContenderList.largestBelow',
        find: "if (this.#hasOdd) return 'unsure'",
        replace: "if (this.#names.count >= 0) return 'unsure'",
      },
      {
        in: 'ContenderList.#sorted',
        find: '(one, other) => bySequence(one, other) || Number(rivals.mayFollow(one)) - Number(rivals.mayFollow(other)),',
        replace: '(one, other) => (one.name < other.name ? -1 : 1),',
      },
    ],
  },
  {
    name: 'an acquire does not time out',
    edits: [
      {
        in: 'WaitLimit.#unless',
        find: 'this.#waiting.push(reject)',
        replace: '',
      },
    ],
  },
  {
    name: 'a waiter whose session expired does not queue again',
    edits: [
      {
        in: 'QueueLock.acquire',
        find: 'if (!hasNextSession || wasAborted(error, signal)) throw error',
        replace: 'throw error',
      },
    ],
  },
  {
    name: 'a missing parent is an error',
    edits: [
      {
        in: 'ProtectedCreate.#afterFailure',
        find: "if (KeeperError.is(error, 'NoNode')) {",
        replace: "if (KeeperError.is(error, 'BadVersion')) {",
      },
    ],
  },
  {
    name: 'tryAcquire does not check which contenders are ahead of its node',
    edits: [
      {
        in: 'Contender.#isBlocked',
        find: 'this.#lines.some(({ isNext }) => !isNext)',
        replace: 'false as boolean',
      },
    ],
  },
]

import type { PlantedBug } from './bug.ts'

/** Mistakes that barriers could have, or that those of other clients have. */
export const barrierBugs: readonly PlantedBug[] = [
  {
    name: 'a barrier is read without a committed check',
    recipe: 'Barrier',
    edits: [
      {
        in: 'Barrier.#behindCheck',
        find: 'const checking = zk.multi([op.check(this.path)], options)',
        replace: 'const checking = Promise.resolve()',
      },
    ],
  },
  {
    name: 'a barrier whose removal was not answered is removed again, whichever it is',
    recipe: 'Barrier',
    edits: [
      {
        in: 'Barrier.remove',
        find: 'stat !== undefined && mayBeSame(stat, first)',
        replace: 'stat !== undefined',
      },
    ],
  },
  {
    name: 'a waiter at a barrier is woken once only',
    recipe: 'Barrier',
    edits: [
      {
        in: 'Barrier.#opened',
        find: "if (event?.type === 'NodeDeleted') return",
        replace: 'return',
      },
    ],
  },
  {
    name: 'a ready node of an earlier round opens a double barrier',
    recipe: 'DoubleBarrier',
    edits: [
      {
        in: 'BarrierMember.enter',
        find: 'ready.stat !== undefined && ready.stat.mzxid > czxid',
        replace: 'ready.stat !== undefined',
      },
    ],
  },
  {
    name: 'a member is woken by any event of the ready node',
    recipe: 'DoubleBarrier',
    edits: [
      {
        in: 'BarrierMember.enter',
        find: "if (event === 'NodeCreated' || event === 'NodeDataChanged') return",
        replace: 'if (event !== `${czxid}`) return',
      },
    ],
  },
  {
    name: 'a member that leaves waits for the first other one only',
    recipe: 'DoubleBarrier',
    edits: [{ in: 'BarrierMember.#othersGone', find: 'round.others.pop()', replace: 'round.others = []' }],
  },
  {
    name: 'a member that leaves does not wait where another is gone in between',
    recipe: 'DoubleBarrier',
    edits: [
      {
        in: 'BarrierMember.leave',
        find: 'await this.#othersGone(round, signal, mustWait)',
        replace: 'void this.#othersGone(round, signal, mustWait).catch(() => {})',
      },
    ],
  },
  {
    name: 'a member that leaves waits for those that have not entered',
    recipe: 'DoubleBarrier',
    edits: [{ in: 'BarrierMember.#list', find: 'ready?.mzxid ?? stat.pzxid', replace: 'stat.pzxid' }],
  },
  {
    name: 'a member that gives up leaves its node',
    recipe: 'DoubleBarrier',
    edits: [{ in: 'BarrierMember.#remove', find: 'await this.#node.delete()', replace: 'await Promise.resolve()' }],
  },
]

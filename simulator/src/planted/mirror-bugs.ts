import type { PlantedBug } from './bug.ts'

/** Bugs that caches of other clients had, and bugs that are easy to make. */
export const mirrorBugs: readonly PlantedBug[] = (
  [
    {
      name: 'a lost connection is not followed by a comparison (CURATOR-391)',
      edits: [{ in: 'Follower.#watch', find: 'missed: () => this.#queue.compareAll(),', replace: 'missed: () => {},' }],
    },
    {
      name: 'an event of a node that is being read is dropped',
      edits: [
        {
          in: 'ReadQueue.enqueue',
          find: 'job.again |= needs\n      job.againEpoch = this.#joined(job.againEpoch, epoch)',
          replace: '',
        },
      ],
    },
    {
      name: 'the new children of a node that was made again are removed with the old ones',
      edits: [
        {
          in: 'Copy.put',
          find: 'this.#removeBelow(id, stat.czxid)',
          replace: 'this.#removeBelow(id)',
        },
      ],
    },
    {
      name: 'the zxid of a mirror is that of the last node that it has read',
      edits: [
        {
          in: 'Follower.#seen',
          find: 'if (!this.#isAdvancing) this.#advance()',
          replace: 'this.#zxid = zxid\n    if (!this.#isAdvancing) this.#advance()',
        },
      ],
    },
    {
      name: 'an old node is removed although a newer one is below it',
      edits: [
        {
          in: 'Copy.#removeBelow',
          find: 'if (isOld && tree.childCount(each) === 0)',
          replace: 'if (isOld)',
        },
      ],
    },
    {
      name: 'a child is not waited for if an event named it before the list',
      edits: [
        {
          in: 'ReadQueue.#joined',
          find: 'if (other === undefined || older(present, other) === present) return present',
          replace: 'return present',
        },
      ],
    },
    {
      name: 'a slow reader gets a change twice',
      edits: [
        {
          in: 'ChangeFeed.changing',
          find: 'if (this.#isUnyielded[id] === 1 || this.#pending.has(path)) return',
          replace: 'if (this.#isUnyielded[id] === 1) return',
        },
      ],
    },
  ] satisfies readonly PlantedBug[]
).map((bug) => ({ ...bug, recipe: 'Mirror' }))

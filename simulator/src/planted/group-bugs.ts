import type { PlantedBug } from './bug.ts'

/** A bug of Curator's PersistentNode, bugs that `Group` had while it was written, and bugs that are easy to make. */
export const groupBugs: readonly PlantedBug[] = (
  [
    {
      name: 'the node of another session is taken for the own one',
      edits: [
        {
          in: 'Membership.#make',
          find: 'if (stat?.ephemeralOwner === session.id) {',
          replace: 'if (stat !== undefined) {',
        },
      ],
    },
    {
      name: 'a delete whose answer was lost is repeated, whoever has the name by then',
      edits: [
        {
          in: 'MemberNode.delete',
          find: "if (isUnsure) this.#existence = 'unknown'",
          replace: "if (KeeperError.is(error, 'BadVersion')) this.#existence = 'unknown'",
        },
      ],
    },
    {
      name: 'the event of the own node is forgotten when it comes during a write',
      edits: [{ in: 'Membership.#tend', find: 'if (!isSure) isFired = true', replace: 'isFired = !isSure' }],
    },
    {
      name: 'a member that leaves does not wait for its create under way',
      edits: [
        {
          in: 'MemberNode.delete',
          find: 'if (this.#creating !== undefined) await settled(this.#creating)',
          replace: "if (this.#existence === 'unknown') return",
        },
      ],
    },
    {
      name: 'members are read that are not of the list',
      edits: [
        {
          in: 'WatchedMembers.#pass',
          find: 'member !== undefined && member.czxid <= pzxid',
          replace: 'member !== undefined || pzxid > 0n',
        },
      ],
    },
    {
      name: 'what changes while members are read is forgotten',
      edits: [
        { in: 'WatchedMembers.#readAll', find: 'this.#mayHaveChanged = false\n', replace: '' },
        {
          in: 'WatchedMembers.#readAll',
          find: 'if (await this.#pass({ session, signal: this.#signal })) break',
          replace: `const isWhole = await this.#pass({ session, signal: this.#signal })
        this.#mayHaveChanged = false
        if (isWhole) break`,
        },
      ],
    },
  ] satisfies readonly PlantedBug[]
).map((bug) => ({ ...bug, recipe: 'Group' }))

import type { PlantedBug } from './bug.ts'

const recipe = 'Counter'

/** Mistakes that a counter could have. The first is that of every compare and set by version alone. */
export const counterBugs: readonly PlantedBug[] = [
  {
    name: 'a counter takes a write whose answer was lost for one of another client',
    recipe,
    edits: [
      {
        in: 'CounterWriter.#write',
        find: 'unanswered !== undefined && (await node.shows(id))',
        replace: "id === ''",
      },
    ],
  },
  {
    name: 'a counter takes the write of another client for its own whose answer was lost',
    recipe,
    edits: [
      {
        in: 'CounterWriter.#write',
        find: 'unanswered !== undefined && (await node.shows(id))',
        replace: 'unanswered !== undefined',
      },
    ],
  },
  {
    name: 'a counter makes what a session left unanswered again in the next one',
    recipe,
    edits: [
      {
        in: 'CounterWriter.#batch',
        find: 'change.doubt !== undefined && change.doubt.from.version !== version',
        replace: 'change.doubt?.from.version === -2',
      },
    ],
  },
  {
    name: 'a counter is written whatever its version is',
    recipe,
    edits: [{ in: 'WriterNode.write', find: 'bytes, { version })', replace: 'bytes, { version: version * 0 - 1 })' }],
  },
  {
    name: 'a counter says at a timeout that what was sent has not happened',
    recipe,
    edits: [
      { in: 'Change.tooLate', find: 'outcomeUnknown: this.doubt !== undefined', replace: 'outcomeUnknown: false' },
    ],
  },
  {
    name: 'a counter goes on with a change whose caller has given up',
    recipe,
    edits: [{ in: 'CounterWriter.drop', find: 'this.#waiting.delete(change)', replace: 'void change' }],
  },
  {
    name: 'a counter leaves its writer node',
    recipe,
    edits: [
      {
        in: 'WriterNode.delete',
        find: 'await this.#node.delete()',
        replace: 'await Promise.resolve()',
      },
    ],
  },
]

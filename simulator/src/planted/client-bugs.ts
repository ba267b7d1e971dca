import type { PlantedBug } from './bug.ts'

/** Mistakes with which some client was shipped, or which ours could have had. */
export const clientBugs: readonly PlantedBug[] = [
  {
    name: 'writes are repeated on the next connection',
    edits: [
      {
        in: 'RequestQueue.interrupted',
        find: "const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')",
        replace: "const repeated = alive.filter(({ kind }) => kind !== 'connection')",
      },
      {
        in: 'RequestQueue.interrupted',
        find: "const unknown = alive.filter(({ kind }) => kind === 'write')",
        replace: 'const unknown: Request[] = []',
      },
    ],
  },
  {
    name: 'reads are lost with their connection',
    edits: [
      {
        in: 'RequestQueue.interrupted',
        find: '[...putOff, ...repeated, ...this.#unsent.clear()]',
        replace: '[...putOff, ...this.#unsent.clear()]',
      },
    ],
  },
  {
    name: 'watches are not set again on the next connection',
    edits: [
      {
        in: 'WatchManager.connected',
        find: '        ...listsOf(oneShot),\n',
        replace: '',
      },
    ],
  },
  {
    name: 'watches are set again as of now',
    edits: [
      {
        in: 'WatchManager.constructor',
        find: 'this.#lastZxid = lastZxid',
        replace: 'this.#lastZxid = () => 2n ** 62n',
      },
    ],
  },
  {
    name: 'a deletion does not take data watches with it',
    edits: [
      {
        in: 'firedBy.NodeDeleted',
        find: "NodeDeleted: ['data', 'exist', 'child'],",
        replace: "NodeDeleted: ['exist', 'child'],",
      },
    ],
  },
  {
    name: 'an expired session is not followed by another',
    edits: [
      {
        in: 'SessionChain.#ended',
        find: "if (reason !== 'SessionExpired' || !isRenewed)",
        replace: "if (reason === 'SessionExpired' || !isRenewed)",
      },
    ],
  },
  {
    name: 'the timer outlives the session',
    edits: [
      {
        in: 'SessionDriver.#end',
        find: '    this.#timer.stop()\n',
        replace: '',
      },
    ],
  },
  {
    name: 'a connection that is given up is not closed',
    edits: [{ in: 'ServerLink.hangUp', find: '    this.#connection?.close()\n', replace: '' }],
  },
  {
    name: 'what a server has not seen yet is read from it',
    faults: ['lag', 'touch', 'reset'],
    edits: [
      { in: 'SessionMachine.transmit', find: 'connectFrame(this.pipeline.lastZxid)', replace: 'connectFrame(0n)' },
    ],
  },
  {
    name: 'credentials put heartbeats off',
    edits: [
      {
        in: 'SessionMachine.transmit',
        find: 'if (touches > 0) this.#timing.touched(now, touches)',
        replace: 'if (segment.frames > 0) this.#timing.touched(now, 2)',
      },
    ],
  },
]

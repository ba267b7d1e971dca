import type { PlantedBug } from './bug.ts'

const queue = 'client/src/session/requests/request-queue.ts'
const machine = 'client/src/session/protocol/session-machine.ts'
const session = 'client/src/session/driver/session-driver.ts'
const uplink = 'client/src/session/driver/transport.ts'
const watching = 'client/src/session/watches/watch-manager.ts'

/** Each a mistake that some client was shipped with, or that ours could have been. */
export const clientBugs: readonly PlantedBug[] = [
  {
    name: 'writes are repeated on the next connection',
    edits: [
      {
        file: queue,
        find: "const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')",
        replace: "const repeated = alive.filter(({ kind }) => kind !== 'connection')",
      },
      {
        file: queue,
        find: "const unknown = alive.filter(({ kind }) => kind === 'write')",
        replace: 'const unknown: Request[] = []',
      },
    ],
  },
  {
    name: 'reads are lost with their connection',
    edits: [
      {
        file: queue,
        find: '[...putOff, ...repeated, ...this.#unsent.clear()]',
        replace: '[...putOff, ...this.#unsent.clear()]',
      },
    ],
  },
  {
    name: 'watches are not set again on the next connection',
    edits: [
      {
        file: watching,
        find: '        ...listsOf(oneShot),\n',
        replace: '',
      },
    ],
  },
  {
    name: 'watches are set again as of now',
    edits: [
      {
        file: watching,
        find: 'this.#lastZxid = lastZxid',
        replace: 'this.#lastZxid = () => 2n ** 62n',
      },
    ],
  },
  {
    name: 'a deletion does not take data watches with it',
    edits: [
      {
        file: 'client/src/session/watches/path-watches.ts',
        find: "NodeDeleted: ['data', 'exist', 'child'],",
        replace: "NodeDeleted: ['exist', 'child'],",
      },
    ],
  },
  {
    name: 'an expired session is not followed by another',
    edits: [
      {
        file: 'client/src/sessions.ts',
        find: "if (reason !== 'SessionExpired' || !this.#stood",
        replace: "if (reason === 'SessionExpired' || !this.#stood",
      },
    ],
  },
  {
    name: 'the timer outlives the session',
    edits: [
      {
        file: session,
        find: '  #end(reason: EndReason): void {\n    this.#timer.stop()\n',
        replace: '  #end(reason: EndReason): void {\n',
      },
    ],
  },
  {
    name: 'a connection that is given up is not closed',
    edits: [{ file: uplink, find: '    this.#connection?.close()\n', replace: '' }],
  },
  {
    name: 'what a server has not seen yet is read from it',
    faults: ['lag', 'touch', 'reset'],
    edits: [{ file: machine, find: 'connectFrame(this.pipeline.lastZxid)', replace: 'connectFrame(0n)' }],
  },
  {
    name: 'credentials put heartbeats off',
    edits: [
      {
        file: machine,
        find: 'if (touching.length > 0) this.#timing.touched(now, touching.length)',
        replace: `const sent = this.pipeline.takeCredentials()
    if (sent.length + touching.length > 0) this.#timing.touched(now, 2)`,
      },
      { file: machine, find: '...this.pipeline.takeCredentials(), ...touching', replace: '...sent, ...touching' },
    ],
  },
]

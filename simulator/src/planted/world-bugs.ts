import type { PlantedBug } from './bug.ts'

/** What the client took for true of the world around the servers: names, lists, limits, sessions, time. */
export const worldBugs: readonly PlantedBug[] = [
  {
    name: 'a server is left for a new list before a server of that list has answered',
    recipe: 'ZooKeeper',
    edits: [
      {
        in: 'SessionMachine.updateServers',
        find: 'if (isEstablished(state)) this.#searchAnew(state, isToLeave, now)\n    else if (isToLeave)',
        replace: 'if (isToLeave)',
      },
    ],
  },
  {
    name: 'the connect string is forgotten when another list comes',
    edits: [{ in: 'ServerPicker.#fallbacks', find: 'this.#fallsBack ? this.#lists.fallbacks : []', replace: '[]' }],
  },
  {
    name: 'the answer of a look-up is thrown away when its attempt is over',
    edits: [
      {
        in: 'LookUps.begin',
        find: 'if (now < (this.#begun.get(host) ?? -Infinity) + deadlines.lookUpLost()) return',
        replace: '',
      },
      {
        in: 'LookUps.begin',
        find: 'found: (addresses) => {',
        replace: 'found: (addresses) => {\n        if (this.#begun.get(host) !== now) return',
      },
    ],
  },
  {
    name: 'last known addresses are not dialed while a look-up takes long',
    recipe: 'ZooKeeper',
    edits: [
      {
        in: 'SessionMachine.#withoutLookUp',
        find: 'if (known !== undefined) return',
        replace: 'if (known === undefined) return',
      },
    ],
  },
  {
    name: 'a request that servers refuse by closing the connection is repeated for ever',
    edits: [
      {
        in: 'RequestSizes.closed',
        find: '!isAlone || losses < this.#enough(first.size)',
        replace: 'losses > 0',
      },
    ],
  },
  {
    name: 'watches are set again in batches of one size, whatever servers take',
    faults: ['reset'],
    recipe: 'ZooKeeper',
    edits: [{ in: 'RequestSizes.closed', find: 'this.#shrinkBatches(size)', replace: 'void size' }],
  },
  {
    name: 'a server that answers with another session is a broken one',
    recipe: 'ZooKeeper',
    edits: [
      {
        in: 'SessionMachine.#handshake',
        find: "if (answer === 'otherSession') {",
        replace:
          "if (answer === 'otherSession') throw new ProtocolError('another session')\n    if (answer === 'otherSession') {",
      },
    ],
  },
  {
    name: 'another session in place of the own one is left at the server',
    recipe: 'ZooKeeper',
    edits: [
      {
        in: 'SessionMachine.#end',
        find: "if (farewell !== undefined) this.#outputs.push({ type: 'farewell', bytes: farewell })\n    else if",
        replace: 'if',
      },
    ],
  },
  {
    name: 'a lease is proven from touches before the attempt, however slow answers are',
    recipe: 'Lock',
    edits: [{ in: 'provenLease', find: 'await limit.during(internalsOf(session).touch())', replace: '' }],
  },
]

/** Opening one copy of the tree. */
export interface Opened {
  /** How long it took until all was there, in ms. */
  readonly ready: number
  /** By how much the memory grew that is in use after a garbage collection, in bytes. */
  readonly heap: number
  /** By how much the resident set of the process grew, in bytes. */
  readonly rss: number
  readonly nodes: number
}

export interface MirrorRound {
  readonly mirror: Opened & {
    /** From the event of a node until its change was told: the median, in ms. */
    readonly delay: number
    /** Of a read of the same node, in ms. */
    readonly roundTrip: number
  }
  readonly curator: Opened
}

export interface MirrorResults {
  readonly nodes: number
  readonly rounds: readonly MirrorRound[]
}

const MIB = 1024 * 1024

/** The part of the page of results that compares a mirror with CuratorCache. */
export function mirrorTable({ nodes, rounds }: MirrorResults): string[] {
  const row = (what: string, unit: number, of: (opened: Opened) => number): string => {
    const ratios = rounds.map(({ mirror, curator }) => of(mirror) / of(curator)).sort((one, other) => one - other)
    const values = [
      what,
      (middle(rounds.map(({ mirror }) => of(mirror))) / unit).toFixed(0),
      (middle(rounds.map(({ curator }) => of(curator))) / unit).toFixed(0),
      `**${middle(ratios).toPrecision(3)}** (${ratios[0]!.toPrecision(3)}–${ratios.at(-1)!.toPrecision(3)})`,
    ]
    return `| ${values.join(' | ')} |`
  }
  const delay = middle(rounds.map(({ mirror }) => mirror.delay))
  const roundTrip = middle(rounds.map(({ mirror }) => mirror.roundTrip))
  return [
    '## A mirror and CuratorCache',
    '',
    `${nodes.toLocaleString('en')} nodes of 100 bytes at one server, rounds: ${rounds.length}. Each round starts a Node process and a JVM anew (Curator 5.4,`,
    'serial collector, both compilers), one after the other, in turns. The memory is that in use after a garbage collection, less what was',
    'in use before: in Node the heap and the buffers outside of it. CuratorCache 5.4 stops at 65,535 nodes (CURATOR-690), so there are two',
    'caches, one of each half of the tree. Made by `pnpm --filter @zk/bench mirror --write`.',
    '',
    '| | Mirror | CuratorCache | ratio |',
    '| --- | ---: | ---: | ---: |',
    row('until all is there, ms', 1, ({ ready }) => ready),
    row('memory in use, MiB', MIB, ({ heap }) => heap),
    row('growth of the resident set, MiB', MIB, ({ rss }) => rss),
    '',
    `A change of a node is told ${delay.toFixed(2)} ms after its event, in the median. A read of the node takes ${roundTrip.toFixed(2)} ms.`,
    '',
  ]
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1]!
}

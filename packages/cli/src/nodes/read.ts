// Commands that read nodes.
import { isatty } from 'node:tty'
import { sleep, type Stat, type WalkedNode, type ZooKeeper } from '@zk/client'
import { printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { Failures } from '../command/failure.ts'
import { type Option, UsageError } from '../command/options.ts'
import { jsonLine, print, printJson, printLines, say } from '../command/output.ts'
import { pathOf } from './path.ts'
import { dataDocument, forTerminal, statDocument, statLines, textOf } from './shown.ts'
import { DEPTH, walkAll } from './walking.ts'

const JSON_OPTION: Option = { name: 'json', help: 'print JSON' }
export const GET: Command = {
  usage: 'PATH [options]',
  options: [{ name: 'raw', help: 'print the bytes as they are, also on a terminal' }, JSON_OPTION],
  notes: `Standard output gets exactly the bytes of the data. On a terminal control characters are shown escaped, and data that is
no UTF-8 is refused.

Example:
  zk get /config/database > database.json
`,
  run: async (args) => {
    const path = pathOf(args, 'zk get PATH')
    return withClient(args, async (zk) => {
      const node = await zk.getData(path)
      if (args.has('json')) printJson({ path, ...dataDocument(node), stat: statDocument(node.stat) })
      else if (args.has('raw') || !isatty(1)) print(node.data)
      else {
        const text = textOf(node.data)
        if (text === undefined)
          throw new UsageError(`${path} has ${node.data.length} bytes that are no text: --raw prints them`)
        print(`${forTerminal(text)}\n`)
      }
      return EXIT.done
    })
  },
}

export const STAT: Command = {
  usage: 'PATH [options]',
  options: [{ name: 'wait', short: 'w', value: 'TIME', help: 'wait so long for the node to exist' }, JSON_OPTION],
  notes: `If there is no such node, also after --wait, zk ends with 66.

Examples:
  zk stat /config/database
  zk stat /jobs/today/done --wait 30m && mail-the-report
`,
  run: async (args) => {
    const path = pathOf(args, 'zk stat PATH')
    const wait = args.duration('wait')
    return withClient(args, async (zk) => {
      const stat = wait === undefined ? await zk.exists(path) : await statWithin(zk, path, wait)
      if (stat === undefined) {
        say(`there is no node ${printable(path)}`)
        return EXIT.noNode
      }
      if (args.has('json')) printJson({ path, stat: statDocument(stat) })
      else print(statLines(stat))
      return EXIT.done
    })
  },
}

/** Waits for the node; undefined if it does not exist in this time. */
async function statWithin(zk: ZooKeeper, path: string, ms: number): Promise<Stat | undefined> {
  const over = new AbortController()
  const timeUp = sleep(zk.runtime, ms, { signal: over.signal }).then(
    () => 'timeUp' as const,
    () => 'timeUp' as const,
  )
  try {
    for (;;) {
      const { stat, changed } = await zk.existsAndWatch(path)
      if (stat !== undefined) return stat
      if ((await Promise.race([changed, timeUp])) === 'timeUp') return undefined
    }
  } finally {
    over.abort()
  }
}

export const LS: Command = {
  usage: 'PATH [options]',
  options: [JSON_OPTION],
  notes: `A name a line. Control characters in names are shown escaped.

Example:
  zk ls /config
`,
  run: async (args) => {
    const path = pathOf(args, 'zk ls PATH')
    return withClient(args, async (zk) => {
      const { children, stat } = await zk.getChildren(path)
      children.sort()
      if (args.has('json')) printJson({ path, children, stat: statDocument(stat) })
      else print(children.map((name) => `${printable(name)}\n`).join(''))
      return EXIT.done
    })
  },
}

export const FIND: Command = {
  usage: 'PATH [options]',
  options: [DEPTH, { name: 'json', help: 'print JSON, a line a node' }],
  notes: `A path a line: a parent before its children, and these in the order of their names. Many reads are under way at once, and the tree
is not held in memory. Nodes without the right to read are named on standard error, and zk ends with 77. /zookeeper is left out unless PATH is
there.

Example:
  zk find /config | wc -l
`,
  run: async (args) => {
    const path = pathOf(args, 'zk find PATH')
    const depth = args.wholeNumber('depth', 0)
    return withClient(args, async (zk) => {
      const failures = new Failures()
      await printLines(found(walkAll(zk, path, { failures, depth }), args.has('json')))
      return failures.code
    })
  },
}

async function* found(nodes: AsyncIterable<WalkedNode>, isJson: boolean): AsyncGenerator<string> {
  for await (const { path, stat } of nodes)
    yield isJson ? jsonLine({ path, stat: statDocument(stat) }) : printable(path)
}

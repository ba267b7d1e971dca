// Commands that read nodes.
import { isatty } from 'node:tty'
import { walk } from '@zk/client'
import { printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { type Option, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { pathOf } from './path.ts'
import { dataDocument, forTerminal, statDocument, statLines, textOf } from './shown.ts'

const JSON_OPTION: Option = { name: 'json', help: 'print JSON' }

/** Lines are written together, up to so many characters. */
const CHUNK = 65_536

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
  options: [JSON_OPTION],
  notes: `Example:
  zk stat /config/database
`,
  run: async (args) => {
    const path = pathOf(args, 'zk stat PATH')
    return withClient(args, async (zk) => {
      const stat = await zk.exists(path)
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
  options: [{ name: 'json', help: 'print JSON, a line a node' }],
  notes: `A path a line: a parent before its children, and these in the order of their names. Many reads are under way at once, and the tree is not held in memory.

Example:
  zk find /config | wc -l
`,
  run: async (args) => {
    const path = pathOf(args, 'zk find PATH')
    return withClient(args, async (zk) => {
      let lines = ''
      for await (const node of walk(zk, path)) {
        lines += args.has('json')
          ? `${JSON.stringify({ version: 1, path: node.path, stat: statDocument(node.stat) })}\n`
          : `${printable(node.path)}\n`
        if (lines.length < CHUNK) continue
        print(lines)
        lines = ''
      }
      print(lines)
      return EXIT.done
    })
  },
}

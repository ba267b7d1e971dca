// `zk conform`: the command of @zk/conform, which is installed beside @zk/cli.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from '../command/command.ts'
import { UsageError } from '../command/options.ts'

const MODULE = '@zk/conform/main'

export const CONFORM: Command = {
  usage: 'HOST:PORT [options]',
  options: [],
  takesAllWords: true,
  notes: `Judges a server or a client by the clauses of the ZooKeeper protocol. zk conform --help is the help of @zk/conform, which
is a package of its own: npm install @zk/conform. It is looked for beside @zk/cli, and from the current folder.
`,
  run: async (args) => {
    const url = addressOf(import.meta.url) ?? addressOf(pathToFileURL(join(process.cwd(), 'zk')).href)
    if (url === undefined) throw new UsageError('@zk/conform is not installed: npm install @zk/conform')
    // It is a program, and reads its arguments itself.
    process.argv = [process.argv[0] ?? '', process.argv[1] ?? '', ...args.words]
    await import(url)
    return Number(process.exitCode ?? 0)
  },
}

/** Where the module is, as seen from this file; undefined if it is not installed. */
function addressOf(from: string): string | undefined {
  try {
    return pathToFileURL(createRequire(from).resolve(MODULE)).href
  } catch {
    return undefined
  }
}

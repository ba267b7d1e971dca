// `zk locks`: who holds, and who waits.
import { type ContenderInfo, Lock, Semaphore, SharedLock, type ZooKeeper } from '@zk/recipes'
import { printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { print, printJson } from '../command/output.ts'
import { pathOf } from '../nodes/path.ts'

export const LOCKS: Command = {
  usage: 'PATH [options]',
  options: [{ name: 'json', help: 'print JSON' }],
  notes: `For the names of @zk/recipes, Curator and kazoo. The session is the one to look for in the connections of the servers.

Example:
  zk locks /locks/backup
`,
  run: async (args) => {
    const path = pathOf(args, 'zk locks PATH')
    return withClient(args, async (zk) => {
      const contenders = await contendersOf(zk, path)
      if (args.has('json')) printJson({ path, contenders: contenders.map(documentOf) })
      else print(tableOf(contenders))
      return EXIT.done
    })
  },
}

/** The kind of the recipe shows in the names of its nodes. */
async function contendersOf(zk: ZooKeeper, path: string): Promise<readonly ContenderInfo[]> {
  const { children } = await zk.getChildren(path)
  if (children.includes('leases') && children.includes('locks')) {
    const semaphore = new Semaphore(zk, path)
    return [...(await semaphore.holders()), ...(await semaphore.contenders())]
  }
  const isShared = children.some((name) => /__(READ|WRIT)__|-__WL__|-__RL__/.test(name))
  return (isShared ? new SharedLock(zk, path) : new Lock(zk, path)).contenders()
}

function documentOf(contender: ContenderInfo): Readonly<Record<string, unknown>> {
  return {
    path: contender.path,
    kind: contender.kind,
    isGranted: contender.isGranted ?? null,
    label: contender.label,
    sessionId: sessionOf(contender),
    since: dateOf(contender),
    sinceMs: contender.since,
    fencingToken: String(contender.fencingToken),
  }
}

function tableOf(contenders: readonly ContenderInfo[]): string {
  const rows = contenders.map((contender) => [
    contender.isGranted === undefined ? '?' : contender.isGranted ? 'holds' : 'waits',
    printable(contender.label) || '-',
    sessionOf(contender),
    dateOf(contender),
    String(contender.fencingToken),
    printable(contender.path),
  ])
  const all = [['', 'LABEL', 'SESSION', 'SINCE', 'TOKEN', 'NODE'], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

const sessionOf = ({ sessionId }: ContenderInfo): string => `0x${BigInt.asUintN(64, sessionId).toString(16)}`
const dateOf = ({ since }: ContenderInfo): string => new Date(since).toISOString()

// `zk locks`: who holds, and who waits.
import { KeeperError } from '@zk/client'
import { printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { YES } from '../command/confirm.ts'
import { serversOf, timeoutOf } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { Failures } from '../command/failure.ts'
import { withClientUntilSignal } from '../command/interrupt.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { checkPath } from '../nodes/path.ts'
import { Addresses } from './addresses.ts'
import { breakHold } from './break-hold.ts'
import { type Contender, contendersAt, lockPathsBelow } from './contenders.ts'
import { contenderDocument, contenderTable } from './shown-contenders.ts'
import { watchLocks } from './watch-locks.ts'

export const LOCKS: Command = {
  usage: 'PATH… [options] | --break NODE [--yes]',
  options: [
    { name: 'recursive', short: 'r', help: 'all locks at and below each PATH' },
    { name: 'watch', short: 'w', help: 'go on: a live table on a terminal, otherwise a line at each change' },
    { name: 'address', help: 'also the address of each client, by the word cons of the servers' },
    { name: 'break', value: 'NODE', help: 'delete the node of a contender; asks first' },
    YES,
    { name: 'json', help: 'print JSON, a line a path; with --watch a line at each change of a path' },
  ],
  notes: `For locks, semaphores and elections with the names of @zk/recipes, Curator and kazoo. BEHIND is for whom a contender
waits. SINCE is when it queued. The session and the address tell you where it runs. Servers that do not allow cons are
named on standard error.

--break deletes the node: the holder is told so, and loses the lock. Its program may run on until it notices, and what
it has written with its fencing token stays valid. The next contender gets a greater token. A contender that waits loses
its place. A node that is not a contender is refused.

Exit codes: 0 done, 1 the question was not answered with yes, 66 there is no such path, 69 no server, 77 no permission.

Example:
  zk locks /locks --recursive --address
`,
  run: locks,
}

async function locks(args: Arguments): Promise<number> {
  const node = args.text('break')
  if (node !== undefined) return breakHold(args, node)
  if (args.has('yes')) throw new UsageError('--yes goes with --break')
  if (args.words.length === 0) throw new UsageError('name at least one path: zk locks PATH…')
  for (const path of args.words) checkPath(path)
  const paths = [...new Set(args.words)]
  const { servers } = serversOf(args, process.env)
  const addresses = args.has('address') ? new Addresses(servers, timeoutOf(args, process.env) ?? 5_000) : undefined
  return withClientUntilSignal(args, async (zk, signal) => {
    if (args.has('watch')) {
      return watchLocks(zk, paths, { isRecursive: args.has('recursive'), isJson: args.has('json'), addresses, signal })
    }
    const failures = new Failures()
    const isRecursive = args.has('recursive')
    let shown = 0
    const showAt = async (path: string): Promise<void> => {
      const contenders = await contendersAt(zk, path, { signal })
      await addresses?.find(contenders.map(({ sessionId }) => sessionId))
      // Below a path a lock whose last contender has just left is no news.
      if (isRecursive && contenders.length === 0) return
      const hasHeading = isRecursive || paths.length > 1
      show(path, contenders, { isJson: args.has('json'), addresses, hasHeading, isFirst: shown === 0 })
      shown++
    }
    for (const path of paths) {
      try {
        if (!isRecursive) await showAt(path)
        else {
          const onUnreadable = (error: KeeperError): void => failures.add(error)
          for await (const lock of lockPathsBelow(zk, path, { signal, onUnreadable })) {
            await showAt(lock).catch((error: unknown) => {
              // It was there when it was found.
              if (!KeeperError.is(error, 'NoNode')) failures.add(error)
            })
          }
        }
      } catch (error) {
        failures.add(error)
      }
    }
    if (shown === 0 && failures.code === EXIT.done) say('nobody holds or waits there')
    return failures.code
  })
}

interface Showing {
  readonly isJson: boolean
  readonly addresses: Addresses | undefined
  readonly hasHeading: boolean
  readonly isFirst: boolean
}

function show(
  path: string,
  contenders: readonly Contender[],
  { isJson, addresses, hasHeading, isFirst }: Showing,
): void {
  if (isJson) {
    return printJson({ path, contenders: contenders.map((contender) => contenderDocument(contender, addresses)) })
  }
  if (contenders.length === 0) return say(`nobody holds or waits at ${printable(path)}`)
  const heading = hasHeading ? `${isFirst ? '' : '\n'}${printable(path)}\n` : ''
  print(heading + contenderTable(contenders, addresses))
}

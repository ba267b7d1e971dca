// `zk locks --break`: takes a contender out of the line.
import { hex, printable } from '@zk/client/internal'
import { parentOf } from '@zk/wire'
import { checkConfirmable, confirm } from '../command/confirm.ts'
import { withClientUntilSignal } from '../command/interrupt.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { printJson, say } from '../command/output.ts'
import { checkPath } from '../nodes/path.ts'
import { type Contender, contendersAt, isContenderName } from './contenders.ts'
import { contenderDocument, dateOf, nameOf } from './shown-contenders.ts'

export function breakHold(args: Arguments, node: string): Promise<number> {
  const [other] = ['recursive', 'watch', 'address'].filter((name) => args.has(name))
  if (other !== undefined) throw new UsageError(`--${other} does not go with --break`)
  if (args.words.length > 0) throw new UsageError('--break takes one node, and no other path')
  checkPath(node)
  if (!isContenderName(node.slice(node.lastIndexOf('/') + 1))) {
    throw new UsageError(`${printable(node)} is not a contender: zk locks PATH shows the nodes of contenders`)
  }
  checkConfirmable(args, '--break')
  return withClientUntilSignal(args, async (zk, signal) => {
    const parent = parentOf(node)
    const path = /.\/(locks|leases)$/.test(parent) ? parentOf(parent) : parent
    const { stat } = await zk.getData(node, { signal })
    const contenders = await contendersAt(zk, path, { signal })
    const contender = contenders.find((each) => each.path === node)
    if (contender === undefined || stat.ephemeralOwner === 0n) {
      say(`${printable(node)} is not a contender: nothing is deleted`)
      return EXIT.failed
    }
    say(whatHappens(contender, contenders))
    if (!(await confirm(args, 'Delete its node?', signal))) return EXIT.notDone
    signal.throwIfAborted()
    await zk.delete(node, { version: stat.version, signal })
    if (args.has('json')) printJson({ path, broken: contenderDocument(contender, undefined) })
    else say(`${printable(node)} is deleted`)
    return EXIT.done
  })
}

function whatHappens(contender: Contender, contenders: readonly Contender[]): string {
  const { isGranted, sessionId, since, label } = contender
  const who = `${nameOf(contender)}${label === '' ? '' : ` (session ${hex(sessionId)})`}, queued since ${dateOf(since)},`
  if (isGranted === false)
    return `${who} waits: it loses its place, and queues again if its program still wants the lock`
  const next = contenders.find(({ behind }) => behind === contender)
  return `${who} holds. It is told that it has lost the hold; its program may run on until it notices.
What it has written with its fencing token stays valid, and only a greater token shuts its later writes out.
${next === undefined ? 'Nobody waits behind it' : `Next is ${nameOf(next)}`}`
}

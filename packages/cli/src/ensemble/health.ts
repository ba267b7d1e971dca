// `zk health`: whether servers open a session, read, write and notify.
import type { ZooKeeper } from '@zk/client'
import { formatServer, validatePath } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { type ClientOptions, connectWith, serversOf, timeoutOf } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { codeOf, messageOf } from '../command/failure.ts'
import { interruptible } from '../command/interrupt.ts'
import { type Arguments, checkNoWords, UsageError } from '../command/options.ts'
import { print, printJson } from '../command/output.ts'
import { table } from '../command/table.ts'

const CHECKS = ['session', 'read', 'write', 'watch'] as const
const READ_ONLY_CHECKS = ['session', 'read'] as const
type CheckName = (typeof CHECKS)[number]

const DEFAULT_PATH = '/zk-health'
const DEFAULT_TIMEOUT = 5_000

export const HEALTH: Command = {
  usage: '[options]',
  options: [
    { name: 'each', help: 'check each server of the connect string by itself' },
    { name: 'read-only', help: 'only session and read, also by a server that has no quorum' },
    { name: 'path', value: 'PATH', help: `write below this path (default: ${DEFAULT_PATH})` },
    { name: 'json', help: 'print JSON' },
  ],
  notes: `The checks: session (connect), read (the root, or the chroot), write (an ephemeral sequential node below --path), watch
(the node is deleted, and the event arrives). Each may take as long as --timeout says. After a failure the others are
skipped. The node is gone at the end, also if zk is killed. The path is created as a container if it is missing: create
it yourself, with an ACL, if this client may not.

The exit code is 0 if all is well, and otherwise that of the first failure: 66 no such chroot, 69 no server or no
answer, 76 the outcome of the write is unknown, 77 no permission.

Example:
  zk health -c localhost:2181 --timeout 2s
`,
  run: health,
}

interface Check {
  readonly check: CheckName
  readonly result: 'ok' | 'failed' | 'skipped'
  /** How long it took, in ms; undefined if it was skipped. */
  readonly ms: number | undefined
  readonly error: unknown
}

interface Report {
  /** The server that was named, or else the one that was connected. */
  readonly server: string
  readonly isReadOnly: boolean
  readonly checks: readonly Check[]
}

async function health(args: Arguments): Promise<number> {
  checkNoWords(args, 'health')
  const path = args.text('path') ?? DEFAULT_PATH
  try {
    validatePath(path)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  if (path === '/') throw new UsageError('--path must not be /')
  const { servers, chroot } = serversOf(args, process.env)
  const ofServers: ClientOptions[] = args.has('each')
    ? servers.map((server) => ({ servers: formatServer(server) + (chroot === '/' ? '' : chroot) }))
    : [{}]
  return interruptible(async (signal) => {
    const reports = await Promise.all(ofServers.map((options) => examine(args, options, path, signal)))
    signal.throwIfAborted()
    if (args.has('json')) printJson(documentOf(reports))
    else print(table([['SERVER', 'CHECK', 'RESULT', 'TIME', ''], ...reports.flatMap(rowsOf)]))
    const [failure] = reports.flatMap(({ checks }) => checks.filter(({ result }) => result === 'failed'))
    if (failure === undefined) return EXIT.done
    return failure.error instanceof NoEvent ? EXIT.unavailable : codeOf(failure.error)
  })
}

async function examine(args: Arguments, options: ClientOptions, path: string, signal: AbortSignal): Promise<Report> {
  const readOnly = args.has('read-only')
  const timeout = timeoutOf(args, process.env) ?? DEFAULT_TIMEOUT
  const call = { timeout, signal }
  const checks: Check[] = []
  let zk: ZooKeeper | undefined
  let node = ''
  const steps: Readonly<Record<CheckName, () => Promise<unknown>>> = {
    session: async () => (zk = await connectWith(args, process.env, signal, { ...options, readOnly })),
    read: async () => {
      // Unlike exists, it fails if the chroot is missing.
      await zk!.getData('/', call)
    },
    write: async () => {
      const options = { mode: 'EPHEMERAL_SEQUENTIAL', parents: true, ...call } as const
      node = (await zk!.create(`${path}/probe-`, '', options)).path
    },
    watch: async () => {
      const { changed } = await zk!.getDataAndWatch(node, call)
      await zk!.delete(node, call)
      await within(timeout, changed, signal)
    },
  }
  try {
    let hasFailed = false
    for (const check of readOnly ? READ_ONLY_CHECKS : CHECKS) {
      if (hasFailed) {
        checks.push({ check, result: 'skipped', ms: undefined, error: undefined })
        continue
      }
      const startedAt = performance.now()
      const ended = await steps[check]().then(
        () => ({ result: 'ok', error: undefined }) as const,
        (error: unknown) => ({ result: 'failed', error }) as const,
      )
      if (ended.error instanceof UsageError) throw ended.error
      checks.push({ check, ...ended, ms: performance.now() - startedAt })
      hasFailed = ended.result === 'failed'
    }
    const { state } = zk ?? {}
    const connected = state?.name === 'connected' ? state : undefined
    const server = options.servers ?? connected?.server ?? '-'
    return { server, isReadOnly: connected?.readOnly ?? false, checks }
  } finally {
    await zk?.close()
  }
}

/** The answer came, and the event did not. */
class NoEvent extends Error {
  override readonly name = 'NoEvent'
}

async function within(ms: number, event: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let stop = (): void => {}
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new NoEvent(`no event after ${ms} ms`)), ms)
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  })
  try {
    await Promise.race([event, late])
  } finally {
    stop()
  }
}

function rowsOf({ server, isReadOnly, checks }: Report): string[][] {
  return checks.map(({ check, result, ms, error }, index) => [
    index === 0 ? server : '',
    check,
    result,
    ms === undefined ? '-' : `${ms.toFixed(1)} ms`,
    error !== undefined ? reasonOf(error) : check === 'session' && isReadOnly ? 'read-only' : '',
  ])
}

const reasonOf = (error: unknown): string => (error instanceof NoEvent ? error.message : messageOf(error))

function documentOf(reports: readonly Report[]): Readonly<Record<string, unknown>> {
  const servers = reports.map(({ server, isReadOnly, checks }) => ({
    server,
    isReadOnly,
    ok: checks.every(({ result }) => result === 'ok'),
    checks: checks.map(({ check, result, ms, error }) => ({
      check,
      result,
      ...(ms === undefined ? {} : { ms: Number(ms.toFixed(3)) }),
      ...(error === undefined ? {} : { error: reasonOf(error) }),
    })),
  }))
  return { ok: servers.every(({ ok }) => ok), servers }
}

// A process that outlives `zk lock`: it kills the command when zk was killed, and when zk was frozen to the end of the lease.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { print, say } from '../command/output.ts'
import { byTheLease } from './ending.ts'
import { type Family, signalFamily } from './process-table.ts'

/** How often it looks at the wall clock, which goes on while the machine is suspended; in ms. */
const LOOK = 250
/** Between two looks for what is left, in ms. */
const REPEAT = 20

/** In the arguments of the guardian, which knows it from its first moment: zk may be killed before it writes a line. */
interface Duty {
  readonly family: Family
  /** When the lease ends, by the wall clock of this machine: a guardian that was frozen may read an old line. */
  readonly leaseEnd: number
  /** The command is killed so long before, in ms. */
  readonly reserve: number
}

/** What zk tells the guardian later, a line each. */
type Order = Pick<Duty, 'leaseEnd'> | { readonly done: true }

export class Guardian {
  /** Resolves when it guards the family, and rejects if it ends before. */
  readonly ready: Promise<void>
  /** Resolves when it has ended, which it does only if somebody kills it. */
  readonly ended: Promise<void>
  readonly pid: number
  readonly #orders: Writable

  /** `lease` is what is left of the lease, and the command is killed `reserve` before its end. In ms. */
  constructor(family: Family, lease: number, reserve: number) {
    const duty: Duty = { family, leaseEnd: Date.now() + lease, reserve }
    const zk = isExecutable() ? [] : [...process.execArgv, process.argv[1]!]
    // A session of its own: no signal of the terminal, or for the group of zk, reaches it.
    const child = spawn(process.execPath, [...zk, 'guard', JSON.stringify(duty)], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.pid = child.pid ?? 0
    this.#orders = child.stdin
    this.#orders.on('error', () => {})
    this.ended = new Promise<void>((resolve) => void child.once('close', () => resolve()))
    this.ready = new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.stdout.once('data', () => resolve())
      void this.ended.then(() => reject(new Error('the guardian of the command cannot be started')))
    })
  }

  /** The lease lasts so long from now, in ms. */
  extend(lease: number): void {
    this.#tell({ leaseEnd: Date.now() + lease })
  }

  /** Nothing of the command is left. */
  dismiss(): void {
    this.#tell({ done: true })
    this.#orders.end()
  }

  #tell(order: Order): void {
    this.#orders.write(`${JSON.stringify(order)}\n`)
  }
}

/** Whether zk is a single executable, made by `bun build --compile` or `deno compile`. */
function isExecutable(): boolean {
  const { Bun, Deno } = globalThis as {
    readonly Bun?: { readonly isStandaloneExecutable?: boolean }
    readonly Deno?: { readonly build: { readonly standalone?: boolean } }
  }
  return Bun?.isStandaloneExecutable === true || Deno?.build.standalone === true
}

/** What the guardian does. Resolves when it has nothing to guard any more. */
export async function guard([argument = '']: readonly string[]): Promise<number> {
  for (const name of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGTSTP'] as const) process.on(name, () => {})
  const duty = JSON.parse(argument) as Duty
  const { family, reserve } = duty
  let { leaseEnd } = duty
  let isDone = false
  const kill = async (): Promise<void> => {
    const endedAt = await killAll(family)
    if (endedAt !== undefined) say(`the guardian has killed the command, ${byTheLease(leaseEnd - endedAt)}`)
  }
  const killInTime = (): ReturnType<typeof setTimeout> => setTimeout(() => void kill(), leaseEnd - reserve - Date.now())
  let timer = killInTime()
  const looks = setInterval(() => {
    if (Date.now() >= leaseEnd - reserve) void kill()
  }, LOOK)
  sayReady()
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as Order
    if ('done' in order) {
      isDone = true
    } else {
      leaseEnd = order.leaseEnd
      clearTimeout(timer)
      timer = killInTime()
    }
  }
  clearInterval(looks)
  clearTimeout(timer)
  // zk has closed the pipe, or was killed.
  if (!isDone) await kill()
  return 0
}

function sayReady(): void {
  try {
    print('ready\n')
  } catch {
    // zk was killed meanwhile: then there is somebody to kill.
  }
}

/** Resolves with the time at which nothing was left; undefined if there was nothing to kill. In ms, by the wall clock. */
async function killAll(family: Family): Promise<number | undefined> {
  let hasKilled = false
  let endedAt = 0
  // A process that is born while another one ends may not be seen: the first look that finds nothing proves little.
  for (let empty = 0; empty < 2;) {
    const members = await signalFamily(family, 'SIGKILL')
    empty = members.length === 0 ? empty + 1 : 0
    if (empty === 1) endedAt = Date.now()
    hasKilled ||= members.length > 0
    await new Promise((resolve) => setTimeout(resolve, REPEAT))
  }
  return hasKilled ? endedAt : undefined
}

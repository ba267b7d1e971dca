// Contenders of a lock, a shared lock and an election. After the order to stop, each still ends the turn for which it waits.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Acquirable,
  connect,
  type Held,
  KeeperError,
  LeaderElection,
  Lock,
  LockLostError,
  SharedLock,
} from '@zk/recipes'
import type { WriteHeld } from '@zk/recipes'
import { append, machineTime, type Mode } from '../history/index.ts'
import { readSettings } from './settings.ts'

/** The time between two checks of `isHeld`, in ms. */
const ASKED_EVERY = 20
/** One in `oneIn` turns lasts up to `times` as long: long enough for the session to end during it. */
const LONG = { oneIn: 12, times: 25 }

const settings = readSettings()
const { connectString, sessionTimeout, path, log, name, contenders, turn, heldWhile = 'confirmed' } = settings
let isOver = false
process.once('message', () => (isOver = true))
const zk = await connect(connectString, { sessionTimeout, connectTimeout: 120_000 })
const lock = new Lock(zk, `${path}/lock`, { label: name, heldWhile })
const { read, write } = new SharedLock(zk, `${path}/shared`, { label: name, heldWhile })
const election = new LeaderElection(zk, `${path}/election`, { data: name, heldWhile })

if (settings.addAuthEvery !== undefined) void addAuths(settings.addAuthEvery)
await Promise.all([
  ...Array.from({ length: contenders }, (_, nth) =>
    contend(`lock ${nth}`, async (contender) => {
      await hold('lock', contender, 'exclusive', await asked('lock', contender, 'exclusive', lock))
    }),
  ),
  ...Array.from({ length: contenders }, (_, nth) => contend(`shared ${nth}`, share)),
  contend('election', async (contender) => {
    const campaign = { acquire: () => election.campaign() }
    await hold('election', contender, 'exclusive', await asked('election', contender, 'exclusive', campaign))
  }),
])
await zk.close()
process.disconnect()

async function addAuths(interval: number): Promise<void> {
  while (!isOver) {
    // The reply is lost if the connection is lost; the next call comes soon.
    await zk.addAuth('digest', `${name}:secret`).catch(() => {})
    await sleep(interval)
  }
}

async function contend(what: string, takeTurn: (contender: string) => Promise<void>): Promise<void> {
  while (!isOver) await takeTurn(`${name} ${what}`)
}

async function share(contender: string): Promise<void> {
  if (Math.random() < 0.6) {
    await hold('shared', contender, 'shared', await asked('shared', contender, 'shared', read))
    return
  }
  const writing = await asked('shared', contender, 'exclusive', write)
  if (Math.random() < 0.7) await hold('shared', contender, 'exclusive', writing)
  else await goOnReading(contender, writing)
}

/** Holds as a writer, then as a reader. */
async function goOnReading(contender: string, writing: WriteHeld): Promise<void> {
  await ask('shared', contender, 'exclusive', writing)
  let reading: Held
  try {
    reading = await writing.downgrade()
  } catch (error) {
    // The lock was lost before the downgrade or during it.
    ended('shared', contender, 'exclusive', writing, reasonOf(error))
    await writing.release().catch(() => {})
    return
  }
  ended('shared', contender, 'exclusive', writing)
  await hold('shared', contender, 'shared', reading)
}

async function asked<H extends Held>(
  file: string,
  contender: string,
  mode: Mode,
  acquirable: Pick<Acquirable<H>, 'acquire'>,
): Promise<H> {
  append(fileOf(file), { contender, mode, what: 'asked', token: '' })
  return await acquirable.acquire()
}

async function hold(file: string, contender: string, mode: Mode, held: Held): Promise<void> {
  await ask(file, contender, mode, held)
  ended(file, contender, mode, held)
  // The loss is reported already. What remains of the node is deleted in the background.
  await held.release().catch(() => {})
}

/**
 * Checks during a turn whether the lock is held, and logs the results. The lock was held at least from the first positive
 * check to the last one, because a lost hold is never held again.
 */
async function ask(file: string, contender: string, mode: Mode, held: Held): Promise<void> {
  const token = String(held.fencingToken)
  if (!held.isHeld()) return
  append(fileOf(file), { contender, mode, what: 'gained', token })
  const longest = Math.random() * LONG.oneIn < 1 ? turn * LONG.times : turn
  const end = machineTime() + Math.random() * longest
  for (;;) {
    const at = machineTime()
    if (!held.isHeld()) return
    append(fileOf(file), { contender, mode, what: 'held', token, at })
    if (at >= end) return
    await sleep(Math.min(ASKED_EVERY, end - at))
  }
}

function ended(file: string, contender: string, mode: Mode, held: Held, why = reasonOf(held.signal.reason)): void {
  append(fileOf(file), { contender, mode, what: 'ended', token: String(held.fencingToken), why })
}

function reasonOf(error: unknown): string {
  if (error === undefined) return 'finished'
  if (LockLostError.is(error)) return error.reason
  return KeeperError.is(error) ? error.code : 'unknown'
}

function fileOf(recipe: string): string {
  return `${log}/${recipe}.jsonl`
}

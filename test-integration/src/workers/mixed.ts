// Contenders of a lock, a shared lock and an election, until they are told to stop: then each ends the turn it waits for.
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

/** Between two questions whether it is still held, in ms. */
const ASKED_EVERY = 20
/** One turn in so many lasts up to so many times as long: long enough for its session to end in it. */
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
    contend(`lock ${nth}`, async (who) => {
      await hold('lock', who, 'exclusive', await asked('lock', who, 'exclusive', lock))
    }),
  ),
  ...Array.from({ length: contenders }, (_, nth) => contend(`shared ${nth}`, share)),
  contend('election', async (who) => {
    const campaign = { acquire: () => election.campaign() }
    await hold('election', who, 'exclusive', await asked('election', who, 'exclusive', campaign))
  }),
])
await zk.close()
process.disconnect()

async function addAuths(interval: number): Promise<void> {
  while (!isOver) {
    // A lost connection loses the answer; the next call comes soon.
    await zk.addAuth('digest', `${name}:secret`).catch(() => {})
    await sleep(interval)
  }
}

async function contend(what: string, takeTurn: (who: string) => Promise<void>): Promise<void> {
  while (!isOver) await takeTurn(`${name} ${what}`)
}

async function share(who: string): Promise<void> {
  if (Math.random() < 0.6) {
    await hold('shared', who, 'shared', await asked('shared', who, 'shared', read))
    return
  }
  const writing = await asked('shared', who, 'exclusive', write)
  if (Math.random() < 0.7) await hold('shared', who, 'exclusive', writing)
  else await goOnReading(who, writing)
}

/** Holds as a writer, then as a reader. */
async function goOnReading(who: string, writing: WriteHeld): Promise<void> {
  await ask('shared', who, 'exclusive', writing)
  let reading: Held
  try {
    reading = await writing.downgrade()
  } catch (error) {
    // Lost before, or while it was asked for.
    ended('shared', who, 'exclusive', writing, reasonOf(error))
    await writing.release().catch(() => {})
    return
  }
  ended('shared', who, 'exclusive', writing)
  await hold('shared', who, 'shared', reading)
}

async function asked<H extends Held>(
  file: string,
  who: string,
  mode: Mode,
  acquirable: Pick<Acquirable<H>, 'acquire'>,
): Promise<H> {
  append(fileOf(file), { who, mode, what: 'asked', token: '' })
  return await acquirable.acquire()
}

async function hold(file: string, who: string, mode: Mode, held: Held): Promise<void> {
  await ask(file, who, mode, held)
  ended(file, who, mode, held)
  // A loss is told already, and what is left of the node goes in the background.
  await held.release().catch(() => {})
}

/**
 * Asks for the length of a turn whether it is held, and writes down what it hears. It was held from after the first yes, for
 * what is not held never is again, to before the last one.
 */
async function ask(file: string, who: string, mode: Mode, held: Held): Promise<void> {
  const token = String(held.fencingToken)
  if (!held.isHeld()) return
  append(fileOf(file), { who, mode, what: 'gained', token })
  const longest = Math.random() * LONG.oneIn < 1 ? turn * LONG.times : turn
  const end = machineTime() + Math.random() * longest
  for (;;) {
    const at = machineTime()
    if (!held.isHeld()) return
    append(fileOf(file), { who, mode, what: 'held', token, at })
    if (at >= end) return
    await sleep(Math.min(ASKED_EVERY, end - at))
  }
}

function ended(file: string, who: string, mode: Mode, held: Held, why = reasonOf(held.signal.reason)): void {
  append(fileOf(file), { who, mode, what: 'ended', token: String(held.fencingToken), why })
}

function reasonOf(error: unknown): string {
  if (error === undefined) return 'finished'
  if (LockLostError.is(error)) return error.reason
  return KeeperError.is(error) ? error.code : 'unknown'
}

function fileOf(recipe: string): string {
  return `${log}/${recipe}.jsonl`
}

// Processes that stand still while they hold, and one contender in this process that waits behind them.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Held, Lock, type ZooKeeper } from '@zk/recipes'
import type { Ensemble } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'
import { type HoldReport, locks, type Message, type Order, type Span, type Stall } from '../../src/stalls/stall.ts'
import { waitedForCpu } from '../../src/stalls/waited-for-cpu.ts'
import { startWorker, type Worker } from '../../src/workers/start.ts'
import { newChroot } from './clients.ts'
import { type Holding, Sample } from './stall-sample.ts'

/** One process; it stalls in one session after the other. */
export interface Plan {
  readonly sessionTimeout: number
  readonly stalls: readonly Stall[]
}

/** Resolves when all stalls are over and all processes have ended. */
export async function stallAll(ensemble: Ensemble, plans: readonly Plan[]): Promise<Sample[]> {
  const connectString = ensemble.connectString + (await newChroot(ensemble))
  await using other = await connect(connectString, { sessionTimeout: 20 * ensemble.description.tickTime })
  const workers = plans.map(({ sessionTimeout }, index) =>
    startWorker('staller', {
      connectString,
      path: '',
      log: '',
      name: `process ${index}`,
      sessionTimeout,
    }),
  )
  try {
    // Starting this many processes takes all CPUs of a small machine for a while.
    await Promise.all(workers.map((worker) => heardFrom(worker)))
    const samples = plans.map(async ({ sessionTimeout, stalls }, index) => {
      const worker = workers[index]!
      const samples: Sample[] = []
      for (const [turn, stall] of stalls.entries()) {
        const order = { path: `/${index}-${turn}`, stall }
        samples.push(await play(worker, order, sessionTimeout, other))
      }
      // Disconnecting makes it exit.
      worker.process.disconnect()
      await worker.exited
      return samples
    })
    return (await Promise.all(samples)).flat()
  } finally {
    for (const { process } of workers) process.kill('SIGKILL')
    await Promise.all(workers.map(({ exited }) => exited))
  }
}

async function play(worker: Worker, order: Order, sessionTimeout: number, other: ZooKeeper): Promise<Sample> {
  // It must be ahead, however slow the machine is.
  const terms = { heldWhile: 'sessionAlive' } as const
  const [ofAsked, ofSignaled] = locks.map((name) => new Rival(new Lock(other, `${order.path}/${name}`, terms)))
  const rivals = [ofAsked!, ofSignaled!]
  // The holder has to queue, and is granted when another contender waits behind it.
  await Promise.all(rivals.map((rival) => rival.beAhead()))
  worker.process.send(order)
  let message = await heardFrom(worker)
  if (message !== 'queued') throw new Error(`${worker.name} did not queue`)
  await Promise.all(rivals.map((rival) => rival.queueBehind()))
  await Promise.all(rivals.map((rival) => rival.giveWay()))
  message = await heardFrom(worker)
  const { stall } = order
  if (message === 'stop me' && 'length' in stall) {
    worker.process.send(await stopped(worker, stall.length))
    message = await heardFrom(worker)
  }
  if (typeof message === 'string') throw new Error(`${worker.name} sent an unexpected message: ${message}`)
  const [asked, signaled] = await Promise.all([ofAsked!.outcome(message.asked), ofSignaled!.outcome(message.signaled)])
  return new Sample({ sessionTimeout, stall, span: message.stall, asked, signaled })
}

/** It holds before the stalling process, and after it. */
class Rival {
  readonly #lock: Lock
  #first: Held | undefined
  #next: Promise<{ readonly at: number; readonly held: Held }> | undefined

  constructor(lock: Lock) {
    this.#lock = lock
  }

  async beAhead(): Promise<void> {
    this.#first = await this.#lock.acquire()
  }

  queueBehind(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#next = this.#lock.acquire({ onQueued: () => resolve() }).then((held) => ({ at: machineTime(), held }))
      this.#next.catch(reject)
    })
  }

  async giveWay(): Promise<void> {
    await this.#first?.release()
  }

  async outcome(report: HoldReport): Promise<Holding> {
    if (this.#next === undefined) throw new Error('it does not queue')
    const { at, held } = await this.#next
    const { token, from, until } = report
    const turns = [
      { contender: 'holder', mode: 'exclusive', token: BigInt(token), from, until },
      { contender: 'rival', mode: 'exclusive', token: held.fencingToken, from: at, until: Infinity },
    ] as const
    await held.release()
    return { ...report, grantedAt: at, turns }
  }
}

async function stopped({ process }: Worker, length: number): Promise<Span> {
  process.kill('SIGSTOP')
  const from = machineTime()
  await sleep(length)
  const waited = waitedForCpu(process.pid!)
  process.kill('SIGCONT')
  return { from, to: machineTime(), waited }
}

/** The next message. Each side waits for the other's: no message comes without a listener. */
async function heardFrom({ name, process, exited }: Worker): Promise<Message> {
  const ended = exited.then((code) => {
    throw new Error(`${name} has ended with ${code}`)
  })
  const [message] = (await Promise.race([once(process, 'message'), ended])) as [Message]
  return message
}

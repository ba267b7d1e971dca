// What a process is told when it waits in vain for a lock, and when it loses one: in virtual time, so a minute takes a moment.
//
//     node examples/dist/lost-lock.js
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect, Lock, LostError, sleep, WaitTimeoutError } from '@zk/recipes'
import { VirtualWorld } from '@zk/testing'
import { type Paint, paint } from './paint.ts'

if (process.argv[1] === fileURLToPath(import.meta.url)) await loseLock(console.log, paint)

export async function loseLock(print: (line: string) => void, paint: Paint): Promise<void> {
  const world = new VirtualWorld({ seed: 1 })
  const say = (host: string, colour: Parameters<Paint>[0], what: string, more = '') => {
    const time = `${(world.now / 1_000).toFixed(3).padStart(8)} s`
    print(`${time}  ${host.padEnd(6)}  ${folded(what + more).replace(what, paint(colour, what))}`)
  }
  const runtimes = [world.runtime, world.addProcess()] as const

  await world.run(async () => {
    await using one = await connect(world.connectString, { runtime: runtimes[0] })
    await using other = await connect(world.connectString, { runtime: runtimes[1] })
    const held = await new Lock(one, '/locks/report', { label: 'host-1' }).acquire()
    say('host-1', 'green', 'holds /locks/report', `, fencing token ${held.fencingToken}`)

    const lock = new Lock(other, '/locks/report', { label: 'host-2' })
    const error = await lock.acquire({ timeout: 5_000 }).catch((error: unknown) => error)
    if (WaitTimeoutError.is(error)) say('host-2', 'yellow', 'WaitTimeoutError', `: ${error.message}`)

    const next = lock.acquire()
    await sleep(other.runtime, 20_000)
    say('', 'red', 'the network of host-1 is cut')
    world.network.cut({ process: runtimes[0] })
    await once(held.signal, 'abort')
    if (LostError.is(held.signal.reason))
      say('host-1', 'yellow', 'held.signal aborts', `: ${held.signal.reason.message}`)

    const { fencingToken } = await next
    say('host-2', 'green', 'holds /locks/report', `, fencing token ${fencingToken}`)
    world.network.heal()
  })
}

/** Breaks a text between words: its lines begin at the column of the first. */
function folded(text: string): string {
  return text.replaceAll(/(.{60,84}) /g, `$1\n${' '.repeat(20)}`)
}

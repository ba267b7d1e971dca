import { readFile } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Place } from './stall.ts'

/** The length of the promise chain: long enough for other callbacks to run in between. */
const LINKS = 16
const neverNotified = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the event loop without using the CPU, which other processes on this machine need. */
export function block(time: number): void {
  Atomics.wait(neverNotified, 0, 0, time)
}

/** Calls `stand` at this place, always within one turn of the event loop. `part` is the share of the stall to take there. */
export const places: Readonly<Record<Place, (stand: (part: number) => void) => Promise<void>>> = {
  'a timer': (stand) => new Promise((resolve) => setTimeout(() => resolve(stand(1)), 0)),
  'an I/O callback': (stand) =>
    new Promise((resolve) => readFile(fileURLToPath(import.meta.url), () => resolve(stand(1)))),
  'a promise chain': async (stand) => {
    for (let link = 0; link < LINKS; link++) {
      stand(1 / LINKS)
      await Promise.resolve()
    }
  },
  // The promise of the grant has just resolved, and its continuation calls this.
  'between grant and first use': async (stand) => stand(1),
}

const numbers = Array.from({ length: 1_024 }, (_, index) => index + 0.5)
const BYTES_OF_NUMBER = 8
/** The number of arrays that are alive: 128 MB. */
const ALIVE = 2 ** 14

/** Allocates this number of bytes. Many arrays live for a while, so the garbage collector must move them. */
export function allocate(bytes: number): void {
  const alive: number[][] = []
  const count = bytes / (numbers.length * BYTES_OF_NUMBER)
  for (let nth = 0; nth < count; nth++) alive[nth % ALIVE] = numbers.slice()
}

import { readFile } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Place } from './stall.ts'

/** Long enough for other callbacks to run in between. */
const LINKS = 16
const neverNotified = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the event loop without using the CPU: other processes on this machine need it. */
export function block(time: number): void {
  Atomics.wait(neverNotified, 0, 0, time)
}

/** Calls `stand` at this place, all in one turn of the event loop; its argument is the part of the stall to take. */
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
  // The promise of the grant has just led here.
  'between grant and first use': async (stand) => stand(1),
}

const numbers = Array.from({ length: 1_024 }, (_, index) => index + 0.5)
const BYTES_OF_NUMBER = 8
/** Arrays: 128 MB. */
const ALIVE = 2 ** 14

/** Much of it lives for a while, so the collector has to move it. */
export function allocate(bytes: number): void {
  const alive: number[][] = []
  const count = bytes / (numbers.length * BYTES_OF_NUMBER)
  for (let nth = 0; nth < count; nth++) alive[nth % ALIVE] = numbers.slice()
}

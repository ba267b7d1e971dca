// A semaphore as tests look at it.
import { Semaphore, type SemaphoreHeld, type SemaphoreOptions, type ZooKeeper } from '../../src/index.ts'
import { heldOf } from './holders.ts'
import type { Outcome } from './outside.ts'
import type { Scene } from './scene.ts'

export const PATH = '/semaphores/encoder'
export const LOCKS = `${PATH}/locks`
export const LEASES = `${PATH}/leases`
/** Longer than any pause before a new connection. */
export const RECONNECTED = 2_000

export const semaphoreOf = (zk: ZooKeeper, options: SemaphoreOptions = {}): Semaphore =>
  new Semaphore(zk, PATH, options)

/** As Curator's SharedCount stores it. */
export function stored(permits: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(permits)
  return bytes
}

/** Makes the nodes of a semaphore that is in use: making them is not what a test looks at. */
export function prepare({ ensemble: { nodes } }: Scene, permits: number): void {
  nodes.create('/semaphores')
  nodes.create(PATH, { data: stored(permits) })
  nodes.create(LOCKS)
  nodes.create(LEASES)
}

/** How many permits all of them have together. */
export function takenBy(all: readonly Outcome<SemaphoreHeld>[]): number {
  return heldOf(all).reduce((sum, index) => sum + all[index]!.value.count, 0)
}

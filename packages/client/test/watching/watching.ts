// What the tests of persistent watches have in common.
import { ErrorResponse, OpCode } from '@zk/wire'
import type { PersistentWatchEvent, WatchIterator, WatchOptions } from '../../src/index.ts'
import { type Connected, connected, type ConnectedOptions, outcome, VirtualWorld } from '../support/index.ts'

export interface Start extends Connected {
  readonly world: VirtualWorld
}

export async function start(options: ConnectedOptions = {}): Promise<Start> {
  const world = new VirtualWorld()
  return { world, ...(await connected(world, options)) }
}

/** A watch that the server has set. */
export async function watching(
  { world, zk, connection }: Start,
  path: string,
  options: WatchOptions & { signal?: AbortSignal } = {},
): Promise<WatchIterator<PersistentWatchEvent>> {
  const watch = outcome(zk.watch(path, options))
  connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
  await world.settle()
  return watch.value
}

/** Follows the events from now on: what was received, and how it ended. */
export function follow(events: WatchIterator<PersistentWatchEvent>): {
  readonly notified: string[]
  readonly ending: { value?: unknown }
} {
  const notified: string[] = []
  const ending: { value?: unknown } = {}
  const loop = async () => {
    for await (const event of events) notified.push(describeEvent(event))
    ending.value = 'done'
  }
  loop().catch((error: unknown) => (ending.value = error))
  return { notified, ending }
}

export function describeEvent(event: PersistentWatchEvent): string {
  return event.type === 'Gap' ? `Gap ${event.cause}` : `${event.type} ${event.path}`
}

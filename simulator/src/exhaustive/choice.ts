import { type Cable, type Downward, nameOf, type Upward } from './cable.ts'
import type { Timer } from './client-process.ts'

/** Something that may happen next. */
export type Choice = ChoiceBase &
  (
    | { readonly type: 'deliver'; readonly way: 'up' | 'down'; readonly cable: Cable }
    | { readonly type: 'lose'; readonly at: 'client' | 'server'; readonly cable: Cable }
    | { readonly type: 'fire'; readonly timer: Timer }
    | { readonly type: 'release' }
    | { readonly type: 'abort' }
    | { readonly type: 'expire'; readonly session: bigint }
    | { readonly type: 'delete'; readonly path: string }
  )

interface ChoiceBase {
  /** The same for the same thing, also where what commutes with it happened before. For people, too. */
  readonly id: string
  /** The client at which it happens; undefined for the server. */
  readonly client: number | undefined
  /**
   * - `due`: it happens some time, unless something makes it impossible
   * - `last`: it happens when nothing is due
   * - `early`, `fault`: it may happen, and so often
   * - `free`: it may happen
   */
  readonly need: 'due' | 'last' | 'early' | 'fault' | 'free'
}

export function deliverUp(cable: Cable): Choice {
  const id = `${cable.name} → server  ${told(cable.up[0]!)} #${cable.delivered.up}`
  return { type: 'deliver', way: 'up', cable, id, client: undefined, need: 'due' }
}

export function deliverDown(cable: Cable): Choice {
  const id = `server → ${cable.name}  ${told(cable.down[0]!)} #${cable.delivered.down}`
  return { type: 'deliver', way: 'down', cable, id, client: cable.client, need: 'due' }
}

/** The half that breaks second costs no more: it is the same fault. */
export function lose(cable: Cable, at: 'client' | 'server'): Choice {
  const client = at === 'client' ? cable.client : undefined
  return { type: 'lose', at, cable, id: `${cable.name} breaks at the ${at}`, client, need: cable.isBroken ? 'free' : 'fault' }
}

export function fire(client: number, timer: Timer, need: 'due' | 'last' | 'early'): Choice {
  // One that fires early costs something, so it is not the same as one that fires at last.
  const how = need === 'early' ? ' early' : ''
  return { type: 'fire', timer, id: `${nameOf(client)} timer ${timer.number}${how}`, client, need }
}

export function release(client: number): Choice {
  return { type: 'release', id: `${nameOf(client)} releases`, client, need: 'due' }
}

export function abort(client: number): Choice {
  return { type: 'abort', id: `${nameOf(client)} aborts`, client, need: 'fault' }
}

export function expire(client: number, session: bigint): Choice {
  const id = `session ${session.toString(16)} of ${nameOf(client)} expires`
  return { type: 'expire', session, id, client: undefined, need: 'fault' }
}

export function deleteNode(path: string): Choice {
  return { type: 'delete', path, id: `an operator deletes ${path}`, client: undefined, need: 'fault' }
}

function told(item: Upward | Downward): string {
  return item.type === 'frame' ? item.ops.join(' + ') : item.type
}

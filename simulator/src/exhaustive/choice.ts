import { type Cable, type Downward, nameOf, type Upward } from './cable.ts'
import type { Timer } from './client-process.ts'

/** Something that may happen next. */
export type Choice = AtClient | AtServer

/** What only one client sees of. */
export type AtClient = ChoiceBase & { readonly client: number } & (
    | { readonly type: 'receive'; readonly cable: Cable }
    | { readonly type: 'lose'; readonly cable: Cable }
    | { readonly type: 'fire'; readonly timer: Timer }
    | { readonly type: 'release' }
    | { readonly type: 'abort' }
  )

/** `end` is of no client in particular. */
export type AtServer = ChoiceBase & { readonly client: undefined } & (
    | { readonly type: 'receive'; readonly cable: Cable }
    | { readonly type: 'lose'; readonly cable: Cable }
    | { readonly type: 'expire'; readonly session: bigint }
    | { readonly type: 'delete'; readonly path: string }
    | { readonly type: 'end' }
  )

interface ChoiceBase {
  /** The same for the same thing, also where what commutes with it happened before. For people, too. */
  readonly id: string
  /**
   * - `due`: it happens some time, unless something makes it impossible
   * - `last`: it happens when nothing is due
   * - `early`, `fault`: it may happen, and so often
   * - `free`: it may happen
   * - `end`: nothing happens any more
   */
  readonly need: 'due' | 'last' | 'early' | 'fault' | 'free' | 'end'
}

export const end: Choice = { type: 'end', id: 'the end', client: undefined, need: 'end' }

export function deliverUp(cable: Cable): Choice {
  const next = cable.up[0]!
  const isBreak = next.type === 'closed' && cable.isBroken
  const id = isBreak ? breaks(cable, 'server') : `${cable.name} → server  ${told(next)} #${cable.delivered.up}`
  return { type: 'receive', cable, id, client: undefined, need: 'due' }
}

export function deliverDown(cable: Cable): Choice {
  const next = cable.down[0]!
  const isBreak = next.type === 'lost' && cable.isBroken
  const id = isBreak ? breaks(cable, 'client') : `server → ${cable.name}  ${told(next)} #${cable.delivered.down}`
  return { type: 'receive', cable, id, client: cable.client, need: 'due' }
}

export function loseAtClient(cable: Cable): Choice {
  return { type: 'lose', cable, id: breaks(cable, 'client'), client: cable.client, need: needOfLoss(cable) }
}

export function loseAtServer(cable: Cable): Choice {
  return { type: 'lose', cable, id: breaks(cable, 'server'), client: undefined, need: needOfLoss(cable) }
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

/** The half that breaks second costs no more: it is the same fault. */
function needOfLoss({ isBroken }: Cable): 'free' | 'fault' {
  return isBroken ? 'free' : 'fault'
}

/** Whether something is lost by it or nothing was under way: the one may be the other, after something that commutes. */
function breaks({ name }: Cable, at: 'client' | 'server'): string {
  return `${name} breaks at the ${at}`
}

function told(item: Upward | Downward): string {
  return item.type === 'frame' ? item.ops.join(' + ') : item.type
}

import { type Cable, type Downward, nameOf, type Upward } from './cable.ts'
import type { Timer } from './client-process.ts'

/** An event that may happen next. */
export type Choice = AtClient | AtServer

/** An event that only one client sees. */
export type AtClient = ChoiceBase & { readonly client: number } & (
    | { readonly type: 'receive'; readonly cable: Cable }
    | { readonly type: 'lose'; readonly cable: Cable }
    | { readonly type: 'fire'; readonly timer: Timer }
    | { readonly type: 'release' }
    | { readonly type: 'abort' }
  )

/** `end` belongs to no client. */
export type AtServer = ChoiceBase & { readonly client: undefined } & (
    | { readonly type: 'receive'; readonly cable: Cable }
    | { readonly type: 'lose'; readonly cable: Cable }
    | { readonly type: 'expire'; readonly session: bigint }
    | { readonly type: 'delete'; readonly path: string }
    | { readonly type: 'end' }
  )

interface ChoiceBase {
  /** The id of the event, which does not depend on earlier events that commute with it. It is printed, too. */
  readonly id: string
  /**
   * - `due`: the event happens some time, unless another one makes it impossible
   * - `last`: it happens when no event is due
   * - `early`, `fault`: it may happen, up to the limit of the scope
   * - `free`: it may happen
   * - `end`: nothing happens any more
   */
  readonly need: 'due' | 'last' | 'early' | 'fault' | 'free' | 'end'
}

/** The client of the event, or of its connection; undefined for an event that belongs to no client. */
export function clientOf(choice: Choice): number | undefined {
  return choice.client ?? ('cable' in choice ? choice.cable.client : undefined)
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
  // A timer that fires early counts for a limit, so it differs from one that fires at last.
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

/** The second end of a broken connection does not count again: it is the same fault. */
function needOfLoss({ isBroken }: Cable): 'free' | 'fault' {
  return isBroken ? 'free' : 'fault'
}

/** The same id whether something was under way or not: an event that commutes may change that. */
function breaks({ name }: Cable, at: 'client' | 'server'): string {
  return `${name} breaks at the ${at}`
}

function told(item: Upward | Downward): string {
  return item.type === 'frame' ? item.ops.map(({ name }) => name).join(' + ') : item.type
}

// Carries out faults that are given as data.
import type { Operator } from '../play/operator.ts'
import type { Fault, FaultOf, FaultType } from '../scenario/fault.ts'
import * as clients from './clients.ts'
import { scriptFault } from './frames.ts'
import * as names from './names.ts'
import * as oddServers from './odd-servers.ts'
import * as members from './members.ts'
import type { Heal, Strike, Target } from './target.ts'

const strikes: { readonly [Type in FaultType]: Strike<Type> } = {
  reset: clients.reset,
  halfOpen: clients.halfOpen,
  hold: clients.hold,
  cutOff: clients.cutOff,
  slow: clients.slow,
  failLookUp: names.failLookUp,
  slowLookUp: names.slowLookUp,
  misdirect: names.misdirect,
  misconfigure: names.misconfigure,
  relist: names.relist,
  stall: clients.stall,
  wallJump: clients.wallJump,
  killClient: clients.killClient,
  expire: clients.expire,
  move: clients.move,
  replaceSession: clients.replaceSession,
  crash: members.crash,
  freeze: members.freeze,
  lag: members.lag,
  refuse: members.refuse,
  cutFollower: members.cutFollower,
  isolateLeader: members.isolateLeader,
  stallLink: members.stallLink,
  turnLink: members.turnLink,
  loseTouch: members.loseTouch,
  loseRequest: scriptFault,
  loseReply: scriptFault,
  drop: scriptFault,
  delayRequest: scriptFault,
  delayReply: scriptFault,
  throttle: scriptFault,
  garbage: scriptFault,
  unknownError: scriptFault,
  unknownEvent: oddServers.unknownEvent,
  mangle: oddServers.mangle,
  deleteNode: order((operator, { nth }) => operator.deleteNode(nth)),
  deleteParent: order((operator) => operator.deleteParent()),
  presetCounter: order((operator, { to }) => operator.presetCounter(to)),
  touch: order((operator) => operator.touch()),
}

/** The operator does it at once. */
function order<Type extends FaultType>(give: (operator: Operator, fault: FaultOf<Type>) => void): Strike<Type> {
  return (fault, { operator }) => {
    give(operator, fault)
    return undefined
  }
}

/** Carries out the fault. The returned function, if any, ends it. */
export function strike<Type extends FaultType>(fault: FaultOf<Type> & Fault, target: Target): Heal | undefined {
  return (strikes[fault.type] as Strike<Type>)(fault, target)
}

export type { Client, Heal, Target } from './target.ts'

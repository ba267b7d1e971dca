// Faults that do more together than among all others: some seeds draw from one of these only.
import type { FaultType, FaultyOp } from './fault.ts'

export interface Theme {
  readonly types: readonly FaultType[]
  /** Single requests that may be struck. @default all that there are */
  readonly ops?: readonly FaultyOp[]
}

export const themes: readonly Theme[] = [
  // What a follower answers and what its leader knows differ most when a link works one way only.
  { types: ['turnLink'] },
  { types: ['turnLink', 'turnLink', 'stallLink'] },
  { types: ['turnLink', 'crash', 'cutOff'] },
  { types: ['stallLink', 'cutFollower', 'isolateLeader', 'slow', 'delayReply'] },
  // A waiter that was woken reads the list; meanwhile others come and go.
  { types: ['throttle'], ops: ['getChildren'] },
  { types: ['delayRequest', 'slow'], ops: ['getChildren'] },
  // The next server has not seen what the last one had.
  { types: ['lag', 'lag', 'reset', 'touch', 'drop'], ops: ['getChildren', 'getData', 'create', 'multi'] },
  { types: ['failLookUp', 'slowLookUp', 'misdirect', 'crash'] },
  {
    types: ['reset', 'loseRequest', 'loseReply', 'drop', 'delayRequest', 'delayReply'],
    ops: ['connect', 'sasl', 'setWatches'],
  },
  { types: ['stall', 'slow', 'halfOpen', 'hold', 'cutOff'] },
  { types: ['mangle', 'garbage', 'unknownError', 'unknownEvent'] },
]

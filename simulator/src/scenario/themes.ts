// Groups of faults that belong together. Some seeds draw from one group only.
import type { FaultType, FaultyOp } from './fault.ts'

export interface Theme {
  readonly types: readonly FaultType[]
  /** The requests that may be struck. @default all */
  readonly ops?: readonly FaultyOp[]
}

export const themes: readonly Theme[] = [
  // A follower's answers and its leader's knowledge differ most when a link works in one direction only.
  { types: ['turnLink'] },
  { types: ['turnLink', 'turnLink', 'stallLink'] },
  { types: ['turnLink', 'crash', 'cutOff'] },
  { types: ['stallLink', 'cutFollower', 'isolateLeader', 'slow', 'delayReply'] },
  // A waiter that was woken reads the list. Meanwhile others come and go.
  { types: ['throttle'], ops: ['getChildren'] },
  { types: ['delayRequest', 'slow'], ops: ['getChildren'] },
  // The next server has not seen what the last one has seen.
  { types: ['lag', 'lag', 'reset', 'touch', 'drop'], ops: ['getChildren', 'getData', 'create', 'multi'] },
  { types: ['failLookUp', 'slowLookUp', 'misdirect', 'crash'] },
  // What a client is told of servers does not fit it.
  { types: ['misconfigure', 'relist', 'replaceSession', 'reset', 'crash'] },
  {
    types: ['reset', 'loseRequest', 'loseReply', 'drop', 'delayRequest', 'delayReply'],
    ops: ['connect', 'sasl', 'setWatches'],
  },
  { types: ['stall', 'slow', 'halfOpen', 'hold', 'cutOff'] },
  { types: ['mangle', 'garbage', 'unknownError', 'unknownEvent'] },
]

// Faults of single requests and replies.
import { ErrorCode } from '@zk/wire'
import type { FaultOf } from '../scenario/fault.ts'
import { clientOf, type Heal, type Target } from './target.ts'

type FrameFault = FaultOf<
  'loseRequest' | 'loseReply' | 'drop' | 'delayRequest' | 'delayReply' | 'throttle' | 'garbage' | 'unknownError'
>

/** The returned function removes the fault if it has not struck yet. */
export function scriptFault(fault: FrameFault, target: Target): Heal {
  const rule = add(fault, target)
  return () => rule.remove()
}

function add(fault: FrameFault, target: Target): { remove(): void } {
  const { clients, model } = target
  const { faults } = model
  const { op, nth, client } = fault
  const session = client === 'any' ? undefined : clients[clientOf(target, client)]!.program.sessionId
  const match = { op, nth, ...(session !== undefined && { session }) }
  switch (fault.type) {
    case 'loseRequest':
    case 'loseReply':
      return faults[fault.type]({ ...match, connection: fault.connection })
    case 'drop':
      return faults.drop({ ...match, connection: fault.connection })
    case 'delayRequest':
    case 'delayReply':
      return faults[fault.type]({ ...match, ms: fault.ms })
    case 'throttle':
      return faults.fail({ ...match, code: ErrorCode.ThrottledOp })
    case 'unknownError':
      return faults.fail({ ...match, code: fault.code })
    case 'garbage':
      return faults.garbage(match)
  }
}

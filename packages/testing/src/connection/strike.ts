import type { Ending } from './fault.ts'
import type { FaultRule } from './fault-rule.ts'
import type { Outgoing } from './outgoing.ts'

/** Does to the connection what the fault says. */
type Lose = (how: Ending) => void

/** Applies a rule to a request before it is executed. */
export function strikeRequest(
  rule: FaultRule | undefined,
  lose: Lose,
  delay: (ms: number, done: () => void) => void,
  done: () => void,
): void {
  if (rule === undefined) return done()
  const { fault } = rule
  switch (fault.type) {
    // The request is answered when all earlier ones are.
    case 'fail':
    // The handshake is answered as that of a new session.
    case 'replaceSession':
    // These strike the reply.
    case 'loseReply':
    case 'drop':
    case 'delayReply':
    case 'garbage':
    case 'split':
    case 'merge':
      return done()
    case 'loseRequest':
      lose(fault.connection)
      break
    case 'delayRequest':
      delay(fault.ms, done)
      break
    default:
      return unknown(fault)
  }
  rule.fire()
}

/** The compiler reports a kind of fault that is not handled: its type is not `never`. */
function unknown(fault: never): never {
  throw new TypeError(`unknown fault ${JSON.stringify(fault)}`)
}

/** Applies a rule to a reply. */
export function strikeReply(rule: FaultRule | undefined, bytes: Uint8Array, outgoing: Outgoing, lose: Lose): void {
  if (rule === undefined) return outgoing.send(bytes)
  const { fault } = rule
  switch (fault.type) {
    // These faults have already struck the request.
    case 'loseRequest':
    case 'delayRequest':
    case 'fail':
      return outgoing.send(bytes)
    // The reply is already about another session.
    case 'replaceSession':
      outgoing.send(bytes)
      break
    case 'loseReply':
      lose(fault.connection)
      break
    case 'drop':
      outgoing.send(bytes)
      lose(fault.connection)
      break
    case 'delayReply':
      outgoing.hold(fault.ms)
      outgoing.send(bytes)
      break
    case 'garbage':
      outgoing.send(fault.bytes)
      break
    case 'split': {
      const at = Math.min(fault.at, bytes.byteLength - 1)
      outgoing.send(bytes.subarray(0, at))
      outgoing.hold(fault.ms)
      outgoing.send(bytes.subarray(at))
      break
    }
    case 'merge':
      outgoing.merge(bytes, fault.ms)
      break
    default:
      return unknown(fault)
  }
  rule.fire()
}

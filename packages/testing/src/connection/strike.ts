import type { Ending } from './fault.ts'
import type { FaultRule } from './fault-rule.ts'
import type { Outgoing } from './outgoing.ts'

/** What becomes of the connection. */
type Lose = (how: Ending) => void

/** What a rule does to a request before it is done. */
export function strikeRequest(
  rule: FaultRule | undefined,
  lose: Lose,
  delay: (ms: number, done: () => void) => void,
  done: () => void,
): void {
  const fault = rule?.fault
  if (fault?.type === 'loseRequest') lose(fault.connection)
  else if (fault?.type === 'delayRequest') delay(fault.ms, done)
  else return done()
  rule?.fire()
}

/** What a rule does to a reply on its way out. */
export function strikeReply(rule: FaultRule | undefined, bytes: Uint8Array, outgoing: Outgoing, lose: Lose): void {
  const fault = rule?.fault
  switch (fault?.type) {
    case undefined:
    // These have struck the request.
    case 'loseRequest':
    case 'delayRequest':
    case 'fail':
      return outgoing.send(bytes)
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
  }
  rule?.fire()
}

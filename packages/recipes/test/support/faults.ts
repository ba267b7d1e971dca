// Faults as tests put them into tables.
import type { FaultMatch, FaultRule, Faults } from '@zk/testing'
import type { ErrorName } from '@zk/wire'

/** Has something become of the requests that match. */
export type Fault = (faults: Faults, match: FaultMatch) => FaultRule

/** The connection breaks before it is done. */
export const loseRequest: Fault = (faults, match) => faults.loseRequest({ ...match, connection: 'reset' })
/** It is done, and the connection breaks before it is answered. */
export const loseReply: Fault = (faults, match) => faults.loseReply({ ...match, connection: 'reset' })
/** It is done and answered, and the connection ends right behind the answer. */
export const drop: Fault = (faults, match) => faults.drop(match)
/** It is done, and garbage comes in place of the answer. */
export const garbage: Fault = (faults, match) => faults.garbage(match)
/** It is neither done nor answered; the connection stays. */
export const ignore: Fault = (faults, match) => faults.loseRequest({ ...match, connection: 'open' })
/** It is not done, and answered with this code. */
export const fail =
  (code: ErrorName): Fault =>
  (faults, match) =>
    faults.fail({ ...match, code })

/** Each fault with a name for a table of tests. */
export const eachFault: readonly (readonly [name: string, fault: Fault])[] = [
  ['a connection lost before it', loseRequest],
  ['a connection lost behind it', loseReply],
  ['a connection lost behind its answer', drop],
  ['garbage in place of its answer', garbage],
  ['no answer on a standing connection', ignore],
  ['ThrottledOp', fail('ThrottledOp')],
  ['OperationTimeout', fail('OperationTimeout')],
]

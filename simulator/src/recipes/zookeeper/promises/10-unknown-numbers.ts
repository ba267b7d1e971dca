import { eventName } from '@zk/wire'
import type { Check, Violation } from '../../../checks/check.ts'
import { isUnknown, storyOf } from './story.ts'

/**
 * P10: the client survives unknown numbers. A call that was answered with an unknown error code rejects with `Unknown` and
 * that number. An event of unknown type is counted. The connection goes on.
 */
export const unknownNumbers: Check = (played) => {
  const { calls, terms } = storyOf(played)
  const codes = [...calls.values()].flatMap(({ plan, called, settled, sendings }): Violation[] => {
    const reply = sendings.find(({ line }) => line.term === called.term && line.client === called.client)
      ? sendings.at(-1)!.reply
      : undefined
    if (reply === undefined || settled?.step !== reply.step || !isUnknown(reply.message.err)) return []
    const { outcome } = settled
    if (outcome.how !== 'resolved' && outcome.how !== 'rejected') return []
    if (outcome.how === 'rejected' && outcome.code === 'Unknown' && outcome.number === reply.message.err) return []
    return [{ invariant: 'P10', at: settled.at, what: `call ${plan.id} hides the error code ${reply.message.err}` }]
  })
  const events = terms.flatMap(({ client, lines, ended }): Violation[] => {
    const odd = lines.flatMap(({ frames, ended }) =>
      frames
        .filter(({ message }) => message?.type === 'event' && eventName(message.event.type) === undefined)
        .map((frame) => ({ frame, ended })),
    )
    const lost = odd.find(({ frame, ended }) => ended?.by === 'client' && ended.step === frame.step)
    if (lost !== undefined) {
      return [
        { invariant: 'P10', at: lost.frame.at, what: `client ${client} left its server for an event of unknown type` },
      ]
    }
    const told = odd.filter(({ frame }) => frame.order < (ended?.order ?? -1)).length
    if (ended === undefined || ended.anomalies >= told) return []
    return [{ invariant: 'P10', at: ended.at, what: `client ${client} does not count events of unknown type` }]
  })
  return [...codes, ...events]
}

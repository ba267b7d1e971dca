import { expect, test } from 'vitest'
import { namesIn } from '../support/machine-frames.ts'
import { read, write } from '../support/made-requests.ts'
import { replyFrame } from '../support/frames.ts'
import { connected, nameOf, rejectionOf, typesOf } from './machines.ts'

test('SessionMachine.deadline is no later than the first timeout of a call', () => {
  const machine = connected()
  machine.submit(read('/', { expiresAt: 7_000 }))
  machine.submit(read('/', { expiresAt: 6_000 }))
  expect(machine.deadline()).toBe(6_000)
  machine.elapse(6_000)
  expect(machine.deadline()).toBe(7_000)
})

test.each([
  ['unsent read', read, false, false],
  ['unsent write', write, false, false],
  ['sent read', read, true, false],
  ['sent write', write, true, true],
] as const)(
  'SessionMachine rejects an %s whose time is up; outcomeUnknown is for sent writes',
  (_, make, isSent, unknown) => {
    const machine = connected()
    const request = make('/a', { expiresAt: 1_000 })
    machine.submit(request)
    if (isSent) machine.transmit(0)
    const outputs = machine.elapse(1_000)
    expect(typesOf(outputs)).toEqual(['reject'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: unknown })
    expect(namesIn(machine.transmit(1_000))).toEqual([])
    // The reply to what was sent still comes, and disturbs no other request.
    if (isSent) expect(machine.received(replyFrame({ xid: 1 }), 1_001)).toEqual([])
    expect(nameOf(machine)).toBe('connected')
  },
)

test('SessionMachine.abandon is true once', () => {
  const machine = connected()
  const [sent, unsent] = [read(), read()]
  machine.submit(sent)
  machine.transmit(0)
  machine.submit(unsent)
  for (const request of [sent, unsent]) {
    expect([machine.abandon(request), machine.abandon(request)]).toEqual([true, false])
  }
  expect(machine.transmit(0)).toBeUndefined()
})

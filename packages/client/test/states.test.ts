import { expect, test } from 'vitest'
import { ErrorCode } from '@zk/wire'
import {
  endCode,
  endTrigger,
  type State,
  transitionFrom,
  transitions,
  type Trigger,
} from '../src/session/protocol/states.ts'

type Name = State['name']

const names = Object.keys(transitions) as Name[]
const ways = names.flatMap((from) => Object.entries(transitions[from]).map(([trigger, to]) => ({ from, trigger, to })))
const triggers = [...new Set(ways.map(({ trigger }) => trigger))] as Trigger[]

test('transitions leads to states of the table only', () => {
  for (const { to } of ways) expect(names).toContain(to)
})

test('transitions reaches every state from waiting, where a session begins', () => {
  const reached = new Set<Name>(['waiting'])
  for (const from of reached) for (const way of ways) if (way.from === from) reached.add(way.to)
  expect([...reached].sort()).toEqual([...names].sort())
})

test('transitions has no way out of ended', () => {
  expect(transitions.ended).toEqual({})
})

test('transitions ends every other state by expiry and by close, whatever it is doing', () => {
  for (const from of names.filter((name) => name !== 'ended')) {
    expect(transitionFrom(transitions, from, 'expired')).toBe('ended')
    // A connection that is being left stays for the end.
    expect(transitionFrom(transitions, from, from === 'leaving' ? 'stay' : 'closed')).toBe(
      from === 'leaving' ? 'connected' : 'ended',
    )
  }
})

test('transitions makes every connection by dialing, and loses every one to waiting', () => {
  expect(ways.filter(({ to }) => to === 'connected').map(({ from }) => from)).toEqual([
    'handshaking',
    'authenticating',
    'leaving',
  ])
  expect(ways.filter(({ trigger }) => trigger === 'lost').map(({ from, to }) => [from, to])).toEqual([
    ['resolving', 'waiting'],
    ['dialing', 'waiting'],
    ['handshaking', 'waiting'],
    ['authenticating', 'waiting'],
    ['connected', 'waiting'],
    ['leaving', 'waiting'],
  ])
})

test('transitions lets no session end as unreachable that was connected', () => {
  expect(transitionFrom(transitions, 'connected', 'unreachable')).toBeUndefined()
})

test('target is what the table says, and undefined for all that it does not say', () => {
  const said = ways.map(({ from, trigger, to }) => [from, trigger, to])
  const all = names.flatMap((from) =>
    triggers.map((trigger) => [from, trigger, transitionFrom(transitions, from, trigger)]),
  )
  expect(all.filter(([, , to]) => to !== undefined)).toEqual(expect.arrayContaining(said))
  expect(all.filter(([, , to]) => to !== undefined)).toHaveLength(said.length)
})

test('endTrigger and endCode know every reason; each leads from some state to ended, and to a code callers can read', () => {
  expect(Object.keys(endTrigger).sort()).toEqual(Object.keys(endCode).sort())
  for (const trigger of Object.values(endTrigger)) {
    expect(names.some((from) => transitionFrom(transitions, from, trigger) === 'ended')).toBe(true)
  }
  const ends = new Set(ways.filter(({ to }) => to === 'ended').map(({ trigger }) => trigger))
  expect([...ends].sort()).toEqual(Object.values(endTrigger).sort())
  for (const code of Object.values(endCode)) expect([...Object.keys(ErrorCode), 'Closed']).toContain(code)
})

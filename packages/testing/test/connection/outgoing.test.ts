import { expect, test } from 'vitest'
import { Outgoing } from '../../src/connection/outgoing.ts'
import { Agenda } from '../../src/ensemble/index.ts'

function outgoing() {
  const agenda = new Agenda()
  let changes = 0
  const after = (ms: number, action: () => void) => {
    const appointment = agenda.at(agenda.now + ms, action)
    return () => appointment.cancel()
  }
  const out = new Outgoing({ after }, () => changes++)
  const taken = () => {
    const { bytes, close } = out.take()
    return close === undefined ? [...(bytes ?? [])] : [...(bytes ?? []), close]
  }
  return { agenda, out, taken, changes: () => changes }
}

const byte = (value: number) => Uint8Array.of(value)

test('data of one turn is sent together, and the end behind it', () => {
  const { out, taken, changes } = outgoing()
  out.send(byte(1))
  out.send(byte(2))
  out.end()
  expect(changes()).toBe(3)
  expect(taken()).toEqual([1, 2, 'end'])
  expect(taken()).toEqual([])
})

test('delays add up, and nothing overtakes', () => {
  const { agenda, out, taken } = outgoing()
  out.send(byte(1))
  out.hold(10)
  out.send(byte(2))
  out.hold(5)
  out.send(byte(3))
  out.end()
  expect(taken()).toEqual([1])
  agenda.run(10)
  expect(taken()).toEqual([2])
  agenda.run(15)
  expect(taken()).toEqual([3, 'end'])
})

test('a merged frame is sent with the next one, or with the end, or alone when its time is up', () => {
  const { agenda, out, taken } = outgoing()
  out.merge(byte(1), 100)
  expect(taken()).toEqual([])
  out.send(byte(2))
  expect(taken()).toEqual([1, 2])
  out.merge(byte(3), 100)
  agenda.run(100)
  expect(taken()).toEqual([3])
  out.merge(byte(4), 100)
  out.end()
  expect(taken()).toEqual([4, 'end'])
})

test('two merged in a row wait for the third, together, and as long as the first may', () => {
  const { agenda, out, taken } = outgoing()
  out.merge(byte(1), 100)
  expect(taken()).toEqual([])
  agenda.run(50)
  out.merge(byte(2), 100)
  expect(taken()).toEqual([])
  out.send(byte(3))
  expect(taken()).toEqual([1, 2, 3])
  out.merge(byte(4), 100)
  agenda.run(100)
  out.merge(byte(5), 100)
  agenda.run(149)
  expect(taken()).toEqual([])
  agenda.run(150)
  expect(taken()).toEqual([4, 5])
})

test('a frame merged with a delayed one waits for it, as long as it may', () => {
  const { agenda, out, taken } = outgoing()
  out.merge(byte(1), 100)
  out.hold(50)
  out.send(byte(2))
  agenda.run(49)
  expect(taken()).toEqual([])
  agenda.run(50)
  expect(taken()).toEqual([1, 2])
  out.merge(byte(3), 100)
  out.hold(200)
  out.send(byte(4))
  agenda.run(150)
  expect(taken()).toEqual([3])
  agenda.run(250)
  expect(taken()).toEqual([4])
})

test('a loss or a reset comes behind waiting frames', () => {
  const { agenda, out, taken } = outgoing()
  out.hold(10)
  out.send(byte(1))
  out.loseRest()
  out.send(byte(2))
  out.end()
  agenda.run(10)
  expect(taken()).toEqual([1])
  const other = outgoing()
  other.out.hold(10)
  other.out.send(byte(1))
  other.out.end('reset')
  expect(other.taken()).toEqual([])
  other.agenda.run(10)
  expect(other.taken()).toEqual([1, 'reset'])
})

test('frozen by two, it waits for both', () => {
  const { out, taken } = outgoing()
  out.freeze('member')
  out.freeze('user')
  out.end()
  out.thaw('member')
  expect(taken()).toEqual([])
  out.thaw('user')
  expect(taken()).toEqual(['end'])
})

test('frozen, it keeps everything, also a merged frame whose time is up', () => {
  const { agenda, out, taken } = outgoing()
  out.merge(byte(1), 100)
  out.freeze('user')
  out.send(byte(2))
  agenda.run(200)
  expect(taken()).toEqual([])
  out.thaw('user')
  expect(taken()).toEqual([1, 2])
})

test('cut, it drops waiting frames, and still sends those that are due', () => {
  const { agenda, out, taken } = outgoing()
  out.send(byte(1))
  out.hold(10)
  out.send(byte(2))
  out.cut('reset')
  expect(taken()).toEqual([1, 'reset'])
  agenda.run(100)
  expect(taken()).toEqual([])
})

test('lost, it accepts nothing more, not even an end', () => {
  const { out, taken } = outgoing()
  out.lose()
  out.send(byte(1))
  out.end()
  out.cut('reset')
  expect(taken()).toEqual([])
})

test('it is full while more than 1 MiB has not left', () => {
  const { agenda, out } = outgoing()
  const half = new Uint8Array(512 * 1024)
  out.send(half)
  out.send(half)
  expect(out.isFull).toBe(false)
  out.hold(10)
  out.send(byte(1))
  expect(out.isFull).toBe(true)
  out.take()
  expect(out.isFull).toBe(false)
  out.send(half)
  out.send(half)
  expect(out.isFull).toBe(true)
  agenda.run(10)
  out.take()
  expect(out.isFull).toBe(false)
  out.freeze('user')
  out.send(half)
  out.send(half)
  out.send(byte(1))
  out.cut('end')
  expect(out.isFull).toBe(false)
})

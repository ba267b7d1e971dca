import { describe, expect, it } from 'vitest'
import { Agenda } from '../../src/ensemble/index.ts'
import { ExpiryQueue } from '../../src/ensemble/expiry-queue.ts'
import { Process } from '../../src/ensemble/process.ts'
import { generatePasswd, isPasswd, SessionIds } from '../../src/ensemble/session-ids.ts'
import { randomFrom } from './support/world.ts'

describe('Agenda', () => {
  it('Agenda keeps appointments in the order of their times, and of their making among equals', () => {
    const agenda = new Agenda()
    const random = randomFrom(1)
    const expected: { time: number; order: number }[] = []
    const kept: typeof expected = []
    for (let order = 0; order < 1_000; order++) {
      const entry = { time: Math.floor(random() * 50), order }
      expected.push(entry)
      agenda.at(entry.time, () => kept.push(entry))
    }
    agenda.run(50)
    expect(kept).toEqual(expected.sort((a, b) => a.time - b.time || a.order - b.order))
  })

  it('Agenda shows the time of the appointment while it is kept, and then the time it was run to', () => {
    const agenda = new Agenda(5)
    const times: number[] = []
    agenda.at(7, () => {
      times.push(agenda.now)
      // The past is now.
      agenda.at(1, () => times.push(agenda.now))
    })
    agenda.run(10)
    expect([...times, agenda.now]).toEqual([7, 7, 10])
  })

  it('Agenda forgets what is called off', () => {
    const agenda = new Agenda()
    const called = agenda.at(1, () => expect.fail())
    agenda.at(2, () => {})
    called.cancel()
    expect(agenda.deadline()).toBe(2)
    agenda.run(3)
    expect(agenda.deadline()).toBe(Infinity)
  })
})

describe('ExpiryQueue', () => {
  it.each([
    [0, 10],
    [1, 10],
    [9.5, 10],
    [10, 20],
  ])('ExpiryQueue rounds %d up to the next whole interval, never to itself', (now, expected) => {
    const queue = new ExpiryQueue(10, now)
    const element = { expiresAt: 0 }
    queue.add(element, now, 0)
    expect(element.expiresAt).toBe(expected)
    expect([...queue.poll()]).toEqual([element])
  })

  it('ExpiryQueue moves what is touched to a later bucket', () => {
    const queue = new ExpiryQueue(10, 0)
    const element = { expiresAt: 0 }
    queue.add(element, 0, 5)
    queue.update(element, 8, 5)
    expect([...queue.poll()]).toEqual([])
    expect([...queue.poll()]).toEqual([element])
    queue.remove(element)
    expect(queue.size).toBe(0)
  })

  it('ExpiryQueue moves what is touched with a shorter timeout to an earlier bucket', () => {
    const queue = new ExpiryQueue(10, 0)
    const element = { expiresAt: 0 }
    queue.add(element, 0, 35)
    queue.update(element, 0, 5)
    expect(element.expiresAt).toBe(10)
    expect([...queue.poll()]).toEqual([element])
    for (let bucket = 0; bucket < 4; bucket++) expect([...queue.poll()]).toEqual([])
  })
})

describe('Process', () => {
  it('Process reads what has come before its timers ring, when it goes on', () => {
    const agenda = new Agenda()
    const process = new Process(agenda, () => 0.9)
    const done: string[] = []
    process.at(1, () => done.push('timer'))
    process.at(1, () => done.push('tracker'), 'tracker')
    process.stop()
    agenda.run(2)
    process.input(() => done.push('input'))
    expect(done).toEqual([])
    process.continue()
    expect(done).toEqual(['input', 'tracker', 'timer'])
  })

  it('Process may have its session tracker go first', () => {
    const agenda = new Agenda()
    const process = new Process(agenda, () => 0.1)
    const done: string[] = []
    process.at(1, () => done.push('tracker'), 'tracker')
    process.stop()
    process.input(() => done.push('input'))
    agenda.run(2)
    process.continue()
    expect(done).toEqual(['tracker', 'input'])
  })

  it('Process does not ring a timer that was called off by what it read first', () => {
    const agenda = new Agenda()
    const process = new Process(agenda, () => 0.9)
    const timer = process.at(1, () => expect.fail())
    process.stop()
    agenda.run(2)
    process.input(() => timer.cancel())
    process.continue()
  })

  it('Process does nothing any more when it has died', () => {
    const agenda = new Agenda()
    const process = new Process(agenda, () => 0)
    process.at(1, () => expect.fail())
    process.stop()
    process.input(() => expect.fail())
    process.die()
    process.continue()
    agenda.run(2)
  })
})

describe('generatePasswd', () => {
  it('generatePasswd gives the bytes of a java.util.Random', () => {
    // Whose seed is 0, and whose first two numbers are these.
    const view = new DataView(generatePasswd(0xb3415c00n).buffer)
    expect([view.getInt32(0, true), view.getInt32(4, true)]).toEqual([-1_155_484_576, -723_955_400])
  })

  it('generatePasswd is what isPasswd asks for', () => {
    expect(isPasswd(7n, generatePasswd(7n))).toBe(true)
    expect(isPasswd(8n, generatePasswd(7n))).toBe(false)
    expect(isPasswd(0n, generatePasswd(0n))).toBe(false)
    expect(isPasswd(7n, null)).toBe(false)
    expect(isPasswd(7n, generatePasswd(7n).subarray(0, 15))).toBe(false)
  })
})

describe('SessionIds', () => {
  it('SessionIds begin with the number of the server and the time, and never come back', () => {
    const ids = new SessionIds(3, 1_700_000_000_000, undefined)
    const first = ids.next()
    expect(first >> 56n).toBe(3n)
    expect(ids.next()).toBe(first + 1n)
    expect(new SessionIds(3, 1_700_000_000_000, ids.last).next()).toBe(first + 2n)
    expect(new SessionIds(3, 1_700_000_000_001, ids.last).next()).toBe(first + (1n << 16n))
  })
})

import { describe, expect, test } from 'vitest'
import { Window } from '../../src/session/requests/window.ts'

describe('Window', () => {
  test('Window is as wide as its limit until the server is too busy, and at the next server again', () => {
    const window = new Window(1_000)
    for (let n = 0; n < 5; n++) window.executed()
    expect(window.size).toBe(1_000)
    window.tooBusy(990)
    expect(window.size).toBe(5)
    window.open()
    expect(window.size).toBe(1_000)
  })

  test('Window forgets at the next server what the one before has done', () => {
    const window = new Window(1_000)
    for (let n = 0; n < 50; n++) window.executed()
    window.open()
    for (let n = 0; n < 3; n++) window.executed()
    window.tooBusy(990)
    expect(window.size).toBe(3)
  })

  test('Window never closes', () => {
    const window = new Window(Infinity)
    for (let n = 0; n < 9; n++) {
      window.tooBusy(1)
      expect(window.size).toBe(1)
    }
  })

  test('Window at least halves, however much was done before', () => {
    const window = new Window(1_000)
    for (let n = 0; n < 5_000; n++) window.executed()
    window.tooBusy(600)
    expect(window.size).toBe(300)
  })

  test('Window opens by one each time that all of it is done, up to its limit', () => {
    const window = new Window(20)
    window.tooBusy(20)
    const sizes: number[] = []
    for (let round = 0; round < 25; round++) {
      const { size } = window
      for (let n = 0; n <= size; n++) window.executed()
      sizes.push(window.size)
    }
    expect(sizes.slice(0, 4)).toEqual([2, 3, 4, 5])
    expect(sizes.at(-1)).toBe(20)
    expect([...sizes].sort((one, other) => one - other)).toEqual(sizes)
  })

  test('Window finds what a server can do at once, and is seldom too wide', () => {
    const [ABLE, CALLS] = [10, 10_000]
    const window = new Window(1_000)
    let [left, busy, bursts] = [CALLS, 0, 0]
    while (left > 0) {
      const inFlight = Math.min(window.size, left)
      const done = Math.min(inFlight, ABLE)
      for (let n = 0; n < done; n++) window.executed()
      if (inFlight > done) {
        window.tooBusy(inFlight - done)
        busy++
      }
      left -= done
      bursts++
    }
    expect(bursts).toBeLessThan((2 * CALLS) / ABLE)
    expect(busy).toBeLessThan(bursts / 3)
  })
})

import { describe, expect, it } from 'vitest'
import { Chaos } from './support/chaos.ts'

const SEEDS = 25

function runAll(freezes: boolean) {
  const sum = { written: 0, leases: 0, leaders: 0, wrongBeliefs: 0 }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations, written, leases, leaders, wrongBeliefs } = new Chaos({ seed, freezes, duration: 40_000 }).run()
    expect(violations, `seed ${seed}`).toEqual([])
    sum.written += written.length
    sum.leases += leases
    sum.leaders += leaders
    sum.wrongBeliefs += wrongBeliefs
  }
  return sum
}

describe('Ensemble', () => {
  it.each([false, true])(
    'Ensemble loses no write that was answered, agrees when faults are over, and keeps proven leases (members stopped: %s)',
    (freezes) => {
      const { written, leases, leaders, wrongBeliefs } = runAll(freezes)
      // Or nothing was tried.
      expect(written).toBeGreaterThan(2_000)
      expect(leases).toBeGreaterThan(100)
      expect(leaders).toBeGreaterThan(SEEDS * 2)
      // And so would the wrong rule have been found out: that an answered ping proves a session.
      expect(wrongBeliefs).toBeGreaterThan(0)
    },
  )

  it('Ensemble does the same again from the same seed', () => {
    const traces = [7, 7].map((seed) => {
      const { world, written } = new Chaos({ seed, freezes: true, duration: 20_000 }).run()
      return [world.now, written, world.ensemble.members.map(({ tree }) => tree.lastProcessedZxid)]
    })
    expect(traces[0]).toEqual(traces[1])
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { connect } from '@zk/client'
import { duties, dutyId } from '../../src/client/duties.ts'
import { verdictOn } from '../../src/client/duty.ts'
import { askedOf } from '../../src/client/ours.ts'
import { situations } from '../../src/client/situations.ts'
import { playVirtually } from '../../src/client/virtual.ts'

const SEEDS = [1, 2, 3]

describe('Our client', () => {
  const seen = new Set<string>()

  test.each(situations)('keeps its duties: $name', async (situation) => {
    for (const seed of SEEDS) {
      const log = await playVirtually(situation, (runtime) => askedOf(connect, runtime), seed)
      const verdicts = duties.map((duty) => [dutyId(duty), verdictOn(duty, log)] as const)
      expect(verdicts.filter(([, { outcome }]) => outcome === 'broken')).toEqual([])
      for (const [id, { outcome }] of verdicts) if (outcome === 'kept') seen.add(id)
    }
  })

  test('every duty shows in some situation', () => {
    expect(duties.map(dutyId).filter((id) => !seen.has(id))).toEqual([])
  })

  test('its row of docs/conformance says so', () => {
    const results = readFileSync(new URL('../../../../docs/conformance/results.json', import.meta.url), 'utf8')
    const { kept, missed } = (JSON.parse(results) as Record<string, { kept: string; missed: object }>)['@zk/client']!
    expect([kept, missed]).toEqual([`${duties.length} of ${duties.length}`, {}])
  })
})

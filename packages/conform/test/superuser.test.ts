// Scenarios that need the superuser.
import { expect, test } from 'vitest'
import { judge, playOn, RELEASES, scenarioGroups, VirtualTarget } from '@zk/conform/internal'

const release = RELEASES.at(-1)!
/** Servers whose superuser has another password than ours by default. */
const target = new VirtualTarget({ release, superUser: 'super:another' })
const groups = scenarioGroups.map((group) => ({
  ...group,
  scenarios: new Map([...group.scenarios].filter(([, { needs }]) => needs?.includes('superuser'))),
}))

test.each(groups.flatMap(({ scenarios }) => [...scenarios]))(
  '%s: with the password that was given',
  async (_, { play }) => {
    const { failure, leftover, transcript } = await target.use((stage) => playOn(stage, play))
    expect({ failure, leftover }).toEqual({ failure: undefined, leftover: undefined })
    expect(JSON.stringify(transcript)).not.toContain('super:secret')
  },
)

test('without a superuser they are not played', async () => {
  const { scenarios } = await judge({
    target,
    oracle: () => target,
    chapters: [],
    scenarios: groups,
    profiles: new Set(['full']),
    given: new Set(),
    as: release,
    isAlive: async () => true,
  })
  expect(scenarios.map(({ outcome }) => outcome)).toEqual(['untried', 'untried', 'untried'])
})

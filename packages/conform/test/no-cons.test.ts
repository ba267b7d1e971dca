// Servers that answer few four-letter words, as is their default.
import { expect, test } from 'vitest'
import { VirtualWorld } from '@zk/testing'
import { chapters, judge, RELEASES, scenarioGroups, VirtualTarget } from '@zk/conform/internal'

test('a server without `cons` is not accused: what needs the address of the client has no verdict', async () => {
  const release = RELEASES.at(-1)!
  const newWorld = (options: object) => new VirtualWorld({ ...options, fourLetterWords: ['srvr'] })
  const { clauses, scenarios } = await judge({
    target: new VirtualTarget({ release, newWorld }),
    oracle: () => new VirtualTarget({ release }),
    chapters: chapters.filter(({ name }) => name === 'who-am-i' || name === 'acl'),
    scenarios: scenarioGroups.map((group) => ({
      ...group,
      scenarios: new Map([...group.scenarios].filter(([title]) => /^ip permits|whoAmI/.test(title))),
    })),
    profiles: new Set(['core', 'full']),
    given: new Set(['superuser']),
    as: release,
    isAlive: async () => true,
  })
  const without = clauses.filter(({ verdict }) => !['equal', 'untried'].includes(verdict.outcome))
  expect(without.map(({ id, verdict }) => [id, verdict.outcome])).toEqual(
    ['acl/13', 'who-am-i/1', 'who-am-i/2', 'who-am-i/3', 'who-am-i/4'].map((id) => [id, 'unfinished']),
  )
  expect(without[0]!.verdict).toMatchObject({
    evidence: {
      unfinished: 'the server does not say which address this process has: `cons` is not on its whitelist',
    },
  })
  expect(scenarios.map(({ outcome }) => outcome)).toEqual(['unfinished', 'unfinished'])
})

import { expect, test } from 'vitest'
import type { EnsembleOptions } from '../src/index.ts'
import { show } from '../src/connection/fault.ts'
import { answeredWords } from '../src/connection/words.ts'
import { NEWEST } from '../src/database/index.ts'
import { checkOptions, ENSEMBLE_OPTIONS } from '../src/options.ts'

test('an option that is not given is as in a real ensemble of three', () => {
  const { latency, ...rest } = checkOptions({})
  expect(latency('zk1', 'zk2')).toBe(0)
  expect(rest).toEqual({
    members: ['zk1', 'zk2', 'zk3'],
    tickTime: 2_000,
    syncLimit: 5,
    initLimit: 10,
    minSessionTimeout: 4_000,
    maxSessionTimeout: 40_000,
    memberOptions: {},
    electionTime: undefined,
    readOnlyMode: false,
    sequenceOverflow: 'stick',
    watchModes: 'several',
    superDigest: undefined,
    sasl: undefined,
    schemes: new Set(['digest', 'ip']),
    containerCheckInterval: 60_000,
    extendedTypesEnabled: false,
    reconfigEnabled: false,
    enforceQuota: false,
    requestThrottleMaxRequests: 0,
    throttledOpWaitTime: 0,
    release: NEWEST,
    juteMaxBuffer: 1_048_575,
    globalOutstandingLimit: 1_000,
    maxClientCnxns: 0,
    fourLetterWords: new Set(answeredWords),
    history: { entries: 10_000, bytes: 64 * 1024 * 1024 },
  })
})

test('undefined stands for an option that is not given', () => {
  const options: EnsembleOptions = Object.fromEntries(ENSEMBLE_OPTIONS.map((name) => [name, undefined]))
  const { latency, ...rest } = checkOptions(options)
  const { latency: _, ...usual } = checkOptions({})
  expect(rest).toEqual(usual)
  expect(latency('zk1', 'zk2')).toBe(0)
  const memberOptions = { zk2: { minSessionTimeout: undefined, maxSessionTimeout: 5_000 } }
  expect(checkOptions({ memberOptions }).memberOptions).toEqual({
    zk2: { minSessionTimeout: 4_000, maxSessionTimeout: 5_000 },
  })
})

test('the defaults of some options are those of the release', () => {
  expect(checkOptions({ release: '3.5' })).toMatchObject({ sequenceOverflow: 'wrap', watchModes: 'one' })
  expect(checkOptions({ release: '3.5', sequenceOverflow: 'stick' })).toMatchObject({ sequenceOverflow: 'stick' })
  expect(checkOptions({ release: '3.8.4' })).toMatchObject({ sequenceOverflow: 'stick', watchModes: 'one' })
})

test('words that ZooKeeper itself needs are answered whatever the whitelist says', () => {
  expect(checkOptions({ fourLetterWords: ['ruok'] })).toMatchObject({ fourLetterWords: new Set(['ruok', 'srvr']) })
  const words = checkOptions({ fourLetterWords: [], readOnlyMode: true }).fourLetterWords
  expect(words).toEqual(new Set(['srvr', 'isro']))
})

test('session timeouts follow the tick', () => {
  expect(checkOptions({ tickTime: 50 })).toMatchObject({ minSessionTimeout: 100, maxSessionTimeout: 1_000 })
  expect(checkOptions({ tickTime: 50, minSessionTimeout: 5_000 })).toMatchObject({ maxSessionTimeout: 5_000 })
})

test.each<[EnsembleOptions, RegExp]>([
  [{ release: '3.6', enforceQuota: true }, /enforceQuota needs release '3.7' at least, not '3.6.4'/],
  [{ release: '3.5', requestThrottleMaxRequests: 1 }, /requestThrottleMaxRequests needs release '3.6'/],
  [{ throttledOpWaitTime: -1 }, /throttledOpWaitTime must be an integer from 0/],
  [{ members: 0 }, /members must be an integer from 1 to 99, not 0/],
  [{ members: [] }, /members must be a number from 1 to 99, or as many names/],
  [{ members: ['a', 'b', 'a'] }, /members: there are two called "a"/],
  [{ members: ['a', ''] }, /members: "" is not a name/],
  [{ members: 2.5 }, /members must be an integer/],
  [{ members: '3' as unknown as number }, /members must be a number/],
  [{ tickTime: 1 }, /tickTime must be an integer from 2 to 107374182, not 1/],
  [{ tickTime: 2 ** 30 }, /tickTime must be an integer from 2 to 107374182/],
  [{ members: [' '] }, /members: " " is not a name/],
  [{ members: ['a\n'] }, /members: "a\\n" is not a name/],
  [{ members: [undefined as unknown as string] }, /members: undefined is not a name/],
  [{ latency: 5_000 }, /latency must be below 5000, not 5000: .*syncLimit/],
  [{ tickTime: 100, initLimit: 2, latency: 100 }, /latency must be below 100/],
  [{ history: null as unknown as object }, /history: the options must be an object/],
  [
    { tickTime: 100, minSessionTimeout: 199 },
    /minSessionTimeout must be an integer from 200 to \d+: 2 ticks at least, not 199/,
  ],
  [{ memberOptions: { zk9: {} } }, /memberOptions/],
  [
    { tickTime: 100, memberOptions: { zk2: { minSessionTimeout: 199 } } },
    /memberOptions.zk2.minSessionTimeout must be an integer from 200/,
  ],
  [
    { tickTime: 100, memberOptions: { zk2: { maxSessionTimeout: 150 } } },
    /memberOptions.zk2.maxSessionTimeout must be an integer from 200 .*memberOptions.zk2.minSessionTimeout at least/,
  ],
  [{ maxSessionTimeout: 3_999 }, /maxSessionTimeout must be an integer from 4000 .*minSessionTimeout at least/],
  [{ syncLimit: 0 }, /syncLimit/],
  [{ initLimit: -1 }, /initLimit/],
  [{ electionTime: -1 }, /electionTime must be a number of ms, 0 or more, or a function/],
  [{ latency: Number.NaN }, /latency must be/],
  [{ sequenceOverflow: 'loop' as 'wrap' }, /sequenceOverflow must be 'stick' or 'wrap', not "loop"/],
  [{ watchModes: 'two' as 'one' }, /watchModes must be 'one' or 'several', not "two"/],
  [{ superDigest: 'admin' }, /superDigest must be/],
  [{ superDigest: 'bob:D/InIHSb7yEEbrWz8b9l71RjZJU=' }, /superDigest must be 'super:/],
  [{ containerCheckInterval: 0 }, /containerCheckInterval must be an integer from 1/],
  [{ extendedTypesEnabled: 'true' as unknown as boolean }, /extendedTypesEnabled must be true or false, not "true"/],
  ...['3.4', '3.10', '3.9.7', '3.9.', '3', '', '3.8.0-other'].map((release): [EnsembleOptions, RegExp] => [
    { release: release as '3.5' },
    /release must be one of 3\.5, 3\.6, 3\.7, 3\.8, 3\.9, or one of their releases up to .*3\.9\.6, not "/,
  ]),
  [{ version: '3.8' } as EnsembleOptions, /unknown option version \(version is called release\); known are/],
  [{ juteMaxBuffer: 10 }, /juteMaxBuffer/],
  [{ globalOutstandingLimit: 0 }, /globalOutstandingLimit/],
  [{ maxClientCnxns: -1 }, /maxClientCnxns/],
  [{ fourLetterWords: '*' as never }, /fourLetterWords must be a list of words, such as \['ruok', 'srvr'\], not "\*"/],
  [{ fourLetterWords: ['ruok', '*'] as never }, /fourLetterWords: unknown word "\*"; known are conf, cons, .*wchs/],
  [{ fourLetterWords: ['hash'] as never }, /fourLetterWords: unknown word "hash"/],
  [{ fourLetterWords: [undefined] as never }, /fourLetterWords: unknown word undefined/],
  [{ history: { entries: -1 } }, /history.entries/],
  [{ history: { frames: 1 } as object }, /history: unknown option frames; known are entries, bytes/],
  [{ member: 3 } as object, /unknown option member; known are members, /],
  [null as unknown as object, /must be an object/],
])('%j is refused', (options, message) => {
  expect(() => checkOptions(options)).toThrow(message)
})

test.each([Number.NaN, undefined, Infinity, -1, '5'])(
  'a function that returns a time must not return %j',
  (returned) => {
    const { latency, electionTime } = checkOptions({
      latency: () => returned as number,
      electionTime: () => returned as number,
    })
    expect(() => latency('zk1', 'zk2')).toThrow(
      new RangeError(`latency must return a number of ms, 0 or more, not ${show(returned)}`),
    )
    expect(electionTime).toThrow(/electionTime must return a number of ms/)
  },
)

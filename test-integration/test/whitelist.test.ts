// Servers that answer some four-letter words only: real ones, and those of @zk/testing.
import { TestServer } from '@zk/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FourLetterWord } from '@zk/testing'
import { ask } from '@zk/conform/internal'
import { Ensemble } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

/** `mntr` is what the ensemble itself asks for. */
const whitelist = ['ruok', 'mntr'] as const
const others = ['conf', 'cons', 'crst', 'dirs', 'dump', 'envi', 'gtmk', 'isro', 'srst', 'stat', 'wchc', 'wchp', 'wchs']
const neverAnswered = ['hash', 'stmk']

describeEnsemble('A whitelist of four-letter words', () => {
  let real: Ensemble

  beforeAll(async () => {
    real = await Ensemble.start({ nodes: 1, environment: { ZOO_4LW_COMMANDS_WHITELIST: whitelist.join() } })
  }, 120_000)

  afterAll(() => real?.stop())

  test('TestServer refuses what a real server refuses, in the same bytes', async () => {
    await using server = await TestServer.start({ fourLetterWords: whitelist })
    for (const word of ['ruok', ...others, ...neverAnswered] as FourLetterWord[]) {
      const notified = await real.nodes[0]!.ask(word)
      expect(await ask(server.port, word), word).toBe(notified)
    }
  })

  test('srvr is answered whatever the whitelist says', async () => {
    await using server = await TestServer.start({ fourLetterWords: whitelist })
    expect(await real.nodes[0]!.ask('srvr')).toContain('\nMode: ')
    expect(await ask(server.port, 'srvr')).toContain('\nMode: ')
  })
})

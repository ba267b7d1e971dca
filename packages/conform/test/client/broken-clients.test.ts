// Each broken client must be found by the duty that it leaves out, and no other duty may be accused. Here each fourth is played;
// all of them with ZK_BROKEN=all (`pnpm nightly broken`).
import { describe, expect, test } from 'vitest'
import { duties } from '../../src/client/duties.ts'
import { verdictOn } from '../../src/client/duty.ts'
import { askedOf } from '../../src/client/ours.ts'
import { situations } from '../../src/client/situations.ts'
import { playVirtually } from '../../src/client/virtual.ts'
import { connectOf, edited } from './broken-client.ts'
import { brokenClients } from './broken-clients.ts'

const played = brokenClients.filter((_, index) => process.env['ZK_BROKEN'] === 'all' || index % 4 === 0)

describe('A broken client', () => {
  test.each(played)('client/$duty: a client that $does', async (client) => {
    const { duty, also = [] } = client
    const connect = await connectOf(client)
    const accused = new Set<number>()
    const why: string[] = []
    for (const situation of situations) {
      const log = await playVirtually(situation, (runtime) => askedOf(connect, runtime))
      for (const each of duties) {
        const verdict = verdictOn(each, log)
        if (verdict.outcome !== 'broken') continue
        accused.add(each.number)
        why.push(`${situation.name}: client/${each.number}: ${verdict.why[0]}`)
      }
    }
    const ascending = (one: number, other: number) => one - other
    expect([...accused].toSorted(ascending), why.join('\n')).toEqual([duty, ...also].toSorted(ascending))
  })

  test('edits one place of the sources of @zk/client', () => {
    for (const client of brokenClients) expect(() => edited(client)).not.toThrow()
  })
})

// Each broken server must be found by the clause that it breaks, and no other clause may be accused. Here the clauses of its
// chapter are played, for each fourth server; with ZK_BROKEN=all (`pnpm nightly broken`) all clauses for all servers.
import { describe, expect, test } from 'vitest'
import { chapters, isFailure, judge, RELEASES, VirtualTarget } from '@zk/conform/internal'
import { brokenServers } from './broken/servers.ts'
import { edited, worldsOf } from './broken/broken-server.ts'

const playsAll = process.env['ZK_BROKEN'] === 'all'
const played = brokenServers.filter((_, index) => playsAll || index % 4 === 0)

describe('A broken server', () => {
  test.each(played)('$clause: a server that $does', async (server) => {
    const { clause, release = RELEASES.at(-1)!, also = [] } = server
    const chapter = clause.slice(0, clause.indexOf('/'))
    const target = new VirtualTarget({ release, newWorld: await worldsOf(server) })
    const { clauses } = await judge({
      target,
      oracle: () => new VirtualTarget({ release }),
      chapters: playsAll ? chapters : chapters.filter(({ name }) => name === chapter),
      scenarios: [],
      profiles: new Set(['core', 'full', 'extended']),
      given: new Set(['ensemble', 'control', 'superuser', 'hostile']),
      as: release,
      isAlive: async () => true,
      // Virtual, and longer than any check waits: a server that never does something must not end without a verdict.
      timeout: 600_000,
    })
    const accused = clauses.filter(({ verdict }) => isFailure(verdict)).map(({ id }) => id)
    const expected = [clause, ...also].filter((id) => playsAll || id.startsWith(`${chapter}/`))
    expect(accused.toSorted()).toEqual(expected.toSorted())
  })

  test('edits one place of the sources of @zk/testing', () => {
    for (const server of brokenServers) expect(() => edited(server)).not.toThrow()
  })
})

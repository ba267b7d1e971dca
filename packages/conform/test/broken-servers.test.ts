// Each broken server must be found by the clause that it breaks. With ZK_BROKEN=all (`pnpm nightly broken`) all clauses are played, and
// no other clause may be accused.
import { describe, expect, test } from 'vitest'
import { chapters, isFailure, judge, RELEASES, VirtualTarget } from '@zk/conform/internal'
import { brokenServers } from './broken/servers.ts'
import { edited, worldsOf } from './broken/broken-server.ts'

const playsAll = process.env['ZK_BROKEN'] === 'all'

describe('A broken server', () => {
  test.each(brokenServers)('$clause: a server that $does', async (server) => {
    const { clause, release = RELEASES.at(-1)!, also = [] } = server
    const broken = [clause, ...also]
    const target = new VirtualTarget({ release, newWorld: await worldsOf(server) })
    const { clauses } = await judge({
      target,
      oracle: () => new VirtualTarget({ release }),
      chapters,
      ids: playsAll ? undefined : new Set(broken),
      scenarios: [],
      profiles: new Set(['core', 'full', 'extended']),
      given: new Set(['ensemble', 'control', 'superuser', 'hostile']),
      as: release,
      isAlive: async () => true,
      // Virtual, and longer than any check waits: a server that never does something must not end without a verdict.
      timeout: 600_000,
    })
    const accused = clauses.filter(({ verdict }) => isFailure(verdict)).map(({ id }) => id)
    expect(accused.toSorted()).toEqual(broken.toSorted())
  })

  test('edits one place of the sources of @zk/testing', () => {
    for (const server of brokenServers) expect(() => edited(server)).not.toThrow()
  })
})

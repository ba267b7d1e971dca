// Random programs find what differs, without a list of clauses.
import { expect, test } from 'vitest'
import { formatAtoms, formatProgram, fuzz, programs, VirtualTarget } from '@zk/conform/internal'
import { brokenServers } from './broken/servers.ts'
import { worldsOf } from './broken/broken-server.ts'

const release = '3.9.6'
const options = {
  programs: programs({ release, mostSteps: 60, superUser: 'super:secret', hasTTL: true }),
  oracle: new VirtualTarget({ release }),
  seed: 1,
  isAlive: async () => true,
}

test('servers of the same release do not differ', async () => {
  const { tried, equal, differences, withoutVerdict } = await fuzz({
    ...options,
    target: new VirtualTarget({ release }),
    count: 10,
  })
  expect({ tried, equal, differences, withoutVerdict }).toEqual({
    tried: 10,
    equal: 10,
    differences: [],
    withoutVerdict: [],
  })
})

test.each(brokenServers)('a server that $does', { timeout: 60000 }, async (server) => {
  const target = new VirtualTarget({ release: server.release ?? release, newWorld: await worldsOf(server) })
  const t = performance.now()
  const r = await fuzz({
    ...options,
    programs: programs({ release: server.release ?? release, mostSteps: 60, superUser: 'super:secret', hasTTL: true }),
    oracle: new VirtualTarget({ release: server.release ?? release }),
    target,
    count: 10,
    timeToShorten: 10000,
  })
  const d = r.differences[0]
  console.log(
    `${server.clause} ${server.does}: ${Math.round(performance.now() - t)} ms, ${r.tried} tried, ${r.differences.length} differences, no verdict ${JSON.stringify(r.withoutVerdict.slice(0, 2))}`,
  )
  if (d)
    console.log(
      d.seed,
      formatAtoms(d.atoms),
      d.followedBy,
      d.kind,
      '\n' + formatProgram(d.program),
      '\n',
      d.expected,
      '\n',
      d.actual,
      d.actualFrames.length,
    )
})

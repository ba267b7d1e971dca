import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { Ensemble, EnsemblePool, reachDocker } from './src/ensemble/index.ts'
import { settings } from '@zk/conform/internal'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test process asks for its shared ensemble, and for a check of it; undefined where there is no Docker engine. */
    readonly ensembles: string | undefined
  }
}

/** Lends an ensemble to each worker of a run. The worker's test files take turns on it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const docker = await reachDocker()
  if (!docker.reachable) {
    // In CI a run that tests nothing must not pass.
    if (process.env['CI'] === 'true') throw new Error(docker.reason)
    console.warn(`Tests against a real ensemble are skipped. ${docker.reason}`)
    project.provide('ensembles', undefined)
    return undefined
  }
  return share(project, () =>
    Ensemble.start({
      tickTime: settings.tickTime,
      environment: {
        ZOO_CFG_EXTRA: `maxSessionTimeout=${settings.maxSessionTimeout}`,
        SERVER_JVMFLAGS: [
          `-Dzookeeper.DigestAuthenticationProvider.superDigest=${settings.superDigest}`,
          `-Dzookeeper.enforceQuota=${settings.enforceQuota}`,
        ].join(' '),
      },
    }),
  )
}

/** Provides ensembles to test processes. The returned function stops them. */
export async function share(project: TestProject, start: () => Promise<Ensemble>): Promise<() => Promise<void>> {
  const pool = new EnsemblePool(start)
  const server = createServer()
  server.on('request', ({ method, url = '' }, response) => {
    const worker = url.slice(1)
    // A connection that is kept may be closed in the very moment of the next request.
    response.setHeader('connection', 'close')
    const answer = method === 'POST' ? pool.check(worker) : pool.of(worker)
    void answer.then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('ensembles', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    server.closeAllConnections()
    await pool.stop()
  }
}

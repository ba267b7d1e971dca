import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { Ensemble, Health, reachDocker } from './src/ensemble/index.ts'
import { settings } from './src/scenario/index.ts'
import type { EnsembleDescription } from './src/ensemble/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The ensemble of this run; undefined where there is no Docker engine. */
    readonly ensemble: EnsembleDescription | undefined
    /** Its release, for example `3.8.0`. */
    readonly release: string | undefined
    /** The address of its health check: see `after-each.ts`. */
    readonly healthCheck: string | undefined
  }
}

/** Starts the one ensemble that all files of a run share. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const docker = await reachDocker()
  if (!docker.reachable) {
    // In CI a run that tests nothing must not pass.
    if (process.env['CI'] === 'true') throw new Error(docker.reason)
    console.warn(`Tests against a real ensemble are skipped. ${docker.reason}`)
    project.provide('ensemble', undefined)
    project.provide('release', undefined)
    project.provide('healthCheck', undefined)
    return undefined
  }

  const ensemble = await Ensemble.start({
    tickTime: settings.tickTime,
    environment: {
      SERVER_JVMFLAGS: [
        `-Dzookeeper.DigestAuthenticationProvider.superDigest=${settings.superDigest}`,
        `-Dzookeeper.enforceQuota=${settings.enforceQuota}`,
      ].join(' '),
    },
  })
  return share(project, ensemble)
}

/** Provides the ensemble to tests. The returned function stops it. */
export async function share(project: TestProject, ensemble: Ensemble): Promise<() => Promise<void>> {
  project.provide('ensemble', ensemble.description)
  project.provide('release', await ensemble.version())
  const server = createServer()
  const health = new Health(ensemble)
  server.on('request', (_, response) => {
    void health.check().then(
      (broken) => response.end(JSON.stringify({ broken })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('healthCheck', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    server.closeAllConnections()
    await ensemble.stop()
  }
}

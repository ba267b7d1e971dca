import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { Ensemble, reachDocker } from './src/ensemble/index.ts'
import { settings } from './src/scenario/index.ts'
import type { EnsembleDescription } from './src/ensemble/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The ensemble of this run; undefined where there is no Docker engine. */
    readonly ensemble: EnsembleDescription | undefined
    /** The release it is of, such as `3.8.0`. */
    readonly release: string | undefined
  }
}

/** Starts the one ensemble that all files of a run share. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const docker = await reachDocker()
  if (!docker.reachable) {
    // Where nobody looks, a run that tests nothing must not pass.
    if (process.env['CI'] === 'true') throw new Error(docker.reason)
    console.warn(`Tests against a real ensemble are skipped. ${docker.reason}`)
    project.provide('ensemble', undefined)
    project.provide('release', undefined)
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
  project.provide('ensemble', ensemble.description)
  project.provide('release', await ensemble.version())
  return () => ensemble.stop()
}

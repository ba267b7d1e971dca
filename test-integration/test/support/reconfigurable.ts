// Ensembles that may be reconfigured.
import type { ZooKeeper } from '@zk/client'
import { Ensemble } from '../../src/ensemble/index.ts'
import { settings } from '@zk/conform/internal'

/** Only `settings.superUser` may change them. */
export function startReconfigurable(): Promise<Ensemble> {
  return Ensemble.start({
    tickTime: settings.tickTime,
    environment: {
      ZOO_CFG_EXTRA: 'reconfigEnabled=true',
      SERVER_JVMFLAGS: `-Dzookeeper.DigestAuthenticationProvider.superDigest=${settings.superDigest}`,
    },
  })
}

/** The line of a server, with a port for clients. */
export async function lineOf(zk: ZooKeeper, id: number): Promise<string> {
  const { config } = await zk.getConfig()
  const line = config.text.split('\n').find((each) => each.startsWith(`server.${id}=`))!
  return line.includes(';') ? line : `${line};0.0.0.0:2181`
}

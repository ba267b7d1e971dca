import type { TestEnsemble } from '@zk/testing'
import type { Ensemble } from '../../src/ensemble/index.ts'

/** Three servers, of either kind, as far as these tests have to do with them. */
export interface Servers {
  readonly connectString: string
  /** Kills the one that has this address. */
  kill(address: string): Promise<void>
  /** Undoes whatever was done to them. */
  mend(): Promise<void>
}

export function realServers(ensemble: Ensemble): Servers {
  let isWhole = true
  return {
    connectString: ensemble.connectString,
    kill: async (address) => {
      isWhole = false
      await at(address, ensemble.nodes).kill()
    },
    mend: async () => {
      if (!isWhole) await ensemble.mend()
    },
  }
}

export function testServers(ensemble: TestEnsemble): Servers {
  return {
    connectString: ensemble.connectString,
    kill: async (address) => at(address, ensemble.members).kill(),
    mend: async () => {
      ensemble.faults.clear()
      for (const member of ensemble.members) member.restart()
      await ensemble.serving()
    },
  }
}

function at<Server extends { readonly address: string }>(address: string, servers: readonly Server[]): Server {
  const server = servers.find((each) => each.address === address)
  if (server === undefined) throw new Error(`There is no server at ${address}`)
  return server
}

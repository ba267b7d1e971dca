import type { TestEnsemble } from '@zk/testing'
import type { Ensemble } from '../../src/ensemble/index.ts'

/** Three servers, real or in-process, with the operations that these tests need. */
export interface Servers {
  readonly connectString: string
  /** Kills the server with this address. */
  kill(address: string): Promise<void>
  /** Undoes all faults. */
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

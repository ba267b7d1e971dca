import type { TestEnsemble } from '@zk/testing'
import type { Ensemble } from '../../src/ensemble/index.ts'

/** Three servers, of either kind, as far as these tests have to do with them. */
export interface Servers {
  readonly connectString: string
  /** Kills the one that has this address. */
  kill(address: string): Promise<void>
  /** Undoes that. */
  mend(): Promise<void>
}

export function realServers(ensemble: Ensemble): Servers {
  return {
    connectString: ensemble.connectString,
    kill: async (address) => {
      const node = ensemble.nodes.find((each) => each.address === address)
      if (node === undefined) throw new Error(`There is no server at ${address}`)
      await node.kill()
    },
    mend: () => ensemble.mend(),
  }
}

export function testServers(ensemble: TestEnsemble): Servers {
  return {
    connectString: ensemble.connectString,
    kill: async (address) => {
      const member = ensemble.members.find((each) => each.address === address)
      if (member === undefined) throw new Error(`There is no server at ${address}`)
      member.kill()
    },
    mend: async () => {
      for (const member of ensemble.members) member.restart()
      await ensemble.serving()
    },
  }
}

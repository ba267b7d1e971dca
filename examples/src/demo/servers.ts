// The servers of the demo: their addresses, and a way to kill their leader.
import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Ensemble, reachDocker } from '@zk/test-integration/ensemble'
import type { ServerReport } from './embedded-servers.ts'

export interface Servers {
  readonly connectString: string
  /** Kills the leader. Resolves when another member leads. undefined for servers of the user. */
  readonly killLeader: ((notify: (what: string) => void) => Promise<void>) | undefined
  stop(): Promise<void>
}

/** Three servers of `@zk/testing`, in a separate process. */
export async function embedded(): Promise<Servers> {
  const program = fork(fileURLToPath(new URL('embedded-servers.js', import.meta.url)))
  const messages = on(program, 'message')
  const receive = async (): Promise<ServerReport> => (await messages.next()).value[0]
  const started = await receive()
  if (started.type !== 'started') throw new Error(`the servers began with ${JSON.stringify(started)}`)
  return {
    connectString: started.connectString,
    killLeader: async (notify) => {
      program.send('kill the leader')
      for (let news = await receive(); news.type !== 'started'; news = await receive()) {
        notify(news.type === 'killed' ? `the ensemble's leader, ${news.member}, is killed` : `${news.member} leads now`)
        if (news.type === 'leads') return
      }
    },
    stop: async () => {
      const exited = once(program, 'exit')
      program.disconnect()
      await exited
    },
  }
}

/** Three real servers, in containers. */
export async function inContainers(): Promise<Servers> {
  const docker = await reachDocker()
  if (!docker.reachable) throw new Error(`--ensemble starts three ZooKeeper servers in containers. ${docker.reason}`)
  console.log('Starting three ZooKeeper servers in containers …')
  const ensemble = await Ensemble.start()
  return {
    connectString: ensemble.connectString,
    killLeader: async (notify) => {
      const leader = await ensemble.leader()
      notify(`the ensemble's leader, zk${leader.id} at ${leader.address}, is killed`)
      await leader.kill()
      const next = await ensemble.leader({ except: leader })
      notify(`zk${next.id} leads now`)
    },
    stop: () => ensemble.stop(),
  }
}

/** Servers of the user: the demo does not kill their leader. */
export function at(connectString: string): Servers {
  return { connectString, killLeader: undefined, stop: async () => {} }
}

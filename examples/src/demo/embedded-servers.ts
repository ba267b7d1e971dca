// Three servers of `@zk/testing` for the demo, in a separate process, like real servers.
import { TestEnsemble } from '@zk/testing'

/** What this process reports to the demo. */
export type ServerReport =
  | { readonly type: 'started'; readonly connectString: string }
  | { readonly type: 'killed' | 'leads'; readonly member: string }

const ensemble = await TestEnsemble.start({ members: 3 })
process.on('message', () => void killLeader())
process.on('disconnect', () => void ensemble.close())
report({ type: 'started', connectString: ensemble.connectString })

function report(news: ServerReport): void {
  process.send?.(news)
}

async function killLeader(): Promise<void> {
  const { leader } = ensemble
  if (leader === undefined) throw new Error('there is no leader')
  leader.kill()
  report({ type: 'killed', member: leader.name })
  await ensemble.serving()
  report({ type: 'leads', member: ensemble.leader!.name })
}

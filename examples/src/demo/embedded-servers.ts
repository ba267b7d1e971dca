// Three servers of `@zk/testing`, for the demo, in a separate process, as real ones are.
import { TestEnsemble } from '@zk/testing'

/** What this process reports to the demo. */
export type Told =
  | { readonly type: 'started'; readonly connectString: string }
  | { readonly type: 'killed' | 'leads'; readonly member: string }

const ensemble = await TestEnsemble.start({ members: 3 })
process.on('message', () => void killLeader())
process.on('disconnect', () => void ensemble.close())
tell({ type: 'started', connectString: ensemble.connectString })

function tell(news: Told): void {
  process.send?.(news)
}

async function killLeader(): Promise<void> {
  const { leader } = ensemble
  if (leader === undefined) throw new Error('there is no leader')
  leader.kill()
  tell({ type: 'killed', member: leader.name })
  await ensemble.serving()
  tell({ type: 'leads', member: ensemble.leader!.name })
}

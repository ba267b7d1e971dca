// Two clients, the first of them at a server that does not apply what the others commit.
import type { ZooKeeper } from '@zk/client'
import type { FaultOp } from '@zk/testing'
import { Scene } from './scene.ts'

export type Role = 'leader' | 'follower'

export async function laggard(role: Role) {
  const scene = new Scene({ members: 3 })
  const lagging = scene.ensemble.members.find((member) => member.role === role)!
  const others = scene.ensemble.members.filter((member) => member !== lagging)
  for (const member of others) member.refuse()
  const zk = await scene.client()
  for (const member of others) member.accept()
  lagging.refuse()
  const other = await scene.client()
  return { scene, lagging, others, zk, other }
}

/**
 * The session ends, and the next one begins at another server, where its first calls of these operations are lost. So it comes to
 * the server that lags before it has seen anything.
 */
export async function renewedAt(
  { scene, lagging, others }: Pick<Awaited<ReturnType<typeof laggard>>, 'scene' | 'lagging' | 'others'>,
  zk: ZooKeeper,
  lost: readonly FaultOp[],
): Promise<void> {
  const before = zk.session.id
  for (const { name: member } of others) {
    scene.ensemble.faults.loseRequest({ op: lost, member, times: Infinity, connection: 'reset' })
  }
  scene.expire(zk)
  for (const each of others) each.accept()
  for (let ms = 0; [before, 0n].includes(zk.session.id) && ms < 3_000; ms++) await scene.world.advance(1)
  lagging.accept()
}

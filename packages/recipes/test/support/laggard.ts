// A server that does not apply what the others commit, and clients at it.
import type { ZooKeeper } from '@zk/client'
import type { FaultOp } from '@zk/testing'
import { Scene } from './scene.ts'

export type Role = 'leader' | 'follower'

/** The first member with this role, and the other two. */
export function sceneWith(role: Role) {
  const scene = new Scene({ members: 3 })
  const lagging = scene.ensemble.members.find((member) => member.role === role)!
  return { scene, lagging, others: scene.ensemble.members.filter((member) => member !== lagging) }
}

export async function laggard(role: Role) {
  const { scene, lagging, others } = sceneWith(role)
  for (const member of others) member.refuse()
  const zk = await scene.client()
  for (const member of others) member.accept()
  lagging.refuse()
  const other = await scene.client()
  return { scene, lagging, others, zk, other }
}

/**
 * The session ends (by `expire`), and the next one begins at another server, where its first calls of these operations are
 * lost. So it comes to the server that lags before it has seen anything.
 */
export async function renewedAt(
  { scene, lagging, others }: ReturnType<typeof sceneWith>,
  zk: ZooKeeper,
  lost: readonly FaultOp[],
  expire = () => scene.expire(zk),
): Promise<void> {
  const before = zk.session.id
  for (const { name: member } of others) {
    scene.ensemble.faults.loseRequest({ op: lost, member, times: Infinity, connection: 'reset' })
  }
  expire()
  for (const each of others) each.accept()
  for (let ms = 0; [before, 0n].includes(zk.session.id) && ms < 3_000; ms++) await scene.world.advance(1)
  lagging.accept()
}

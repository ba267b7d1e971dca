// The lease that something is granted with.
import { type Session, type ZooKeeper } from '@zk/client'
import { timestamp } from '@zk/client/internal'
import { LeaseRenewal } from './lease-renewal.ts'
import type { Grant } from '../queue/contender.ts'
import { Lease } from './lease.ts'
import { leaseTimes } from './lease-times.ts'
import { NodeVanished } from '../queue/node-vanished.ts'
import type { WaitLimit } from '../queue/wait-limit.ts'
import { type HoldOptions, isLeased, followerRelayDelayOf } from '../hold-options.ts'

/** After so many proofs that leave too little the contender gives its place up, and queues again at the end. */
const ATTEMPTS = 3

/** A proven one: the request that granted was committed, so the touch before it counts. Where that is too old, it is proven anew. */
export async function firstLease(
  zk: ZooKeeper,
  session: Session,
  { node, touch }: Grant,
  terms: HoldOptions,
  limit: WaitLimit,
): Promise<Lease> {
  const { runtime } = zk
  if (!isLeased(terms)) return new Lease(runtime, timestamp(runtime), () => Infinity)
  const followerRelayDelay = followerRelayDelayOf(terms, session)
  const confirmation = new LeaseRenewal(zk, session)
  let touched = touch?.at
  for (let attempt = 1; ; attempt++) {
    const lease = touched && new Lease(runtime, touched, () => leaseTimes.proven(session.shortestTimeout))
    if (lease !== undefined && lease.remaining > leaseTimes.round(session.shortestTimeout)) return lease
    // Answers take too long. Contenders nearer to the servers may go on with less.
    if (attempt > ATTEMPTS) throw new NodeVanished()
    // What was sent before the process stood still is too old. What has been sent since will have been relayed by then.
    if (lease !== undefined) await limit.pause(followerRelayDelay)
    const proof = await confirmation.prove(() => [node], followerRelayDelay)
    if (proof === undefined) throw new NodeVanished()
    for (const { cause } of proof.refused) throw cause.code === 'NoNode' ? new NodeVanished() : cause
    ;({ touched } = proof)
  }
}

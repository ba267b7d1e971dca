// The lease that something is granted with.
import { momentOf, type Session, type ZooKeeper } from '@zk/client'
import { Confirmation } from './confirmation.ts'
import type { Grant } from './contender.ts'
import { Lease } from './lease.ts'
import { leaseTimes } from './lease-times.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Patience } from './patience.ts'
import { type HoldOptions, isLeased, relayAllowanceOf } from './hold-options.ts'

/** So many proofs that are over soon end a place in the queue: the next is at its end. */
const ATTEMPTS = 3

/** A proven one: the request that granted was committed, so the touch before it counts. Where that is too old, it is proven anew. */
export async function firstLease(
  zk: ZooKeeper,
  session: Session,
  { node, touch }: Grant,
  terms: HoldOptions,
  patience: Patience,
): Promise<Lease> {
  const { runtime } = zk
  if (!isLeased(terms)) return new Lease(runtime, momentOf(runtime), () => Infinity)
  const relayAllowance = relayAllowanceOf(terms, session)
  const confirmation = new Confirmation(zk, session)
  let touched = touch?.at
  for (let attempt = 1; ; attempt++) {
    const lease = touched && new Lease(runtime, touched, () => leaseTimes.proven(session.shortestTimeout))
    if (lease !== undefined && lease.remaining > leaseTimes.round(session.shortestTimeout)) return lease
    // Answers take too long. Others, who are nearer, may go on with less.
    if (attempt > ATTEMPTS) throw new NodeVanished()
    // What was sent before the process stood still is too old. What has been sent since will have been relayed by then.
    if (lease !== undefined) await patience.pause(relayAllowance)
    const proof = await confirmation.prove(() => [node], relayAllowance)
    if (proof === undefined) throw new NodeVanished()
    for (const { cause } of proof.refused) throw cause.code === 'NoNode' ? new NodeVanished() : cause
    ;({ touched } = proof)
  }
}

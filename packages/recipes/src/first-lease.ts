// The lease that something is granted with.
import type { Session, ZooKeeper } from '@zk/client'
import { Confirmation } from './confirmation.ts'
import type { Grant } from './contender.ts'
import { Lease } from './lease.ts'
import { leaseTimes } from './lease-times.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Patience } from './patience.ts'
import { type HoldOptions, relayAllowanceOf } from './hold-options.ts'

/** So many proofs that are over soon end a place in the queue: the next is at its end. */
const ATTEMPTS = 3

/** A provisional one at once, where it lasts until it can be proven; else a proven one. */
export async function firstLease(
  zk: ZooKeeper,
  session: Session,
  grant: Grant,
  terms: HoldOptions,
  patience: Patience,
): Promise<Lease> {
  const { heldWhile = 'confirmed', strict = false } = terms
  if (heldWhile !== 'confirmed') return new Lease(zk.runtime, grant.askedAt, () => Infinity)
  const relayAllowance = relayAllowanceOf(terms, session)
  const provisional = provisionalLease(zk, session, grant, relayAllowance)
  if (!strict && isEnough(provisional, session)) return provisional
  return await provenLease(zk, session, grant, relayAllowance, patience)
}

/** Whether it can be proven, or be proven again, before it is over. */
function isEnough({ remaining }: Lease, { shortestTimeout }: Session): boolean {
  return remaining > 2 * leaseTimes.firstProof(shortestTimeout)
}

function provisionalLease(
  { runtime }: ZooKeeper,
  session: Session,
  { askedAt, askedOn }: Grant,
  relayAllowance: number,
): Lease {
  const { connection } = session
  // What another connection has served says nothing of this one's touches.
  if (connection === undefined || connection !== askedOn) return new Lease(runtime, askedAt, () => 0)
  // Who stood still has not sent his heartbeats.
  const touched = connection.touchAnsweredBy(askedAt.now - relayAllowance)
  const byHeartbeats = new Lease(runtime, touched, () => leaseTimes.proven(session.shortestTimeout))
  const byGrant = new Lease(runtime, askedAt, () => leaseTimes.provisional(session.shortestTimeout))
  return byHeartbeats.remaining < byGrant.remaining ? byHeartbeats : byGrant
}

async function provenLease(
  zk: ZooKeeper,
  session: Session,
  { node }: Grant,
  relayAllowance: number,
  patience: Patience,
): Promise<Lease> {
  const confirmation = new Confirmation(zk, session)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    // What was sent before it stood still is too old. What it sends now will have been relayed by then.
    if (attempt > 1) await patience.pause(relayAllowance)
    const proof = await confirmation.prove(() => [node], relayAllowance)
    if (proof === undefined) throw new NodeVanished()
    for (const { cause } of proof.refused) throw cause.code === 'NoNode' ? new NodeVanished() : cause
    const lease = new Lease(zk.runtime, proof.touched, () => leaseTimes.proven(session.shortestTimeout))
    if (isEnough(lease, session)) return lease
  }
  // Answers take too long. Others, who are nearer, may go on with less.
  throw new NodeVanished()
}

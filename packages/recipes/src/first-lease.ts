// The lease that something is granted with.
import type { Session, ZooKeeper } from '@zk/client'
import { Confirmation } from './confirmation.ts'
import { type Grant, NodeVanished } from './contender.ts'
import { Lease } from './lease.ts'
import { leaseTimes } from './lease-times.ts'
import { type HoldOptions, relayAllowanceOf } from './terms.ts'

/** A provisional one at once, where it lasts until it can be proven; else a proven one. */
export async function firstLease(zk: ZooKeeper, session: Session, grant: Grant, terms: HoldOptions): Promise<Lease> {
  const { heldWhile = 'confirmed', strict = false } = terms
  if (heldWhile !== 'confirmed') return new Lease(zk.runtime, grant.askedAt, Infinity)
  const relayAllowance = relayAllowanceOf(terms, session)
  const provisional = provisionalLease(zk, session, grant, relayAllowance)
  const isEnough = provisional.remaining > 2 * leaseTimes.firstProof(session.shortestTimeout)
  return isEnough && !strict ? provisional : await provenLease(zk, session, grant, relayAllowance)
}

function provisionalLease(
  { runtime }: ZooKeeper,
  { connection, shortestTimeout: T }: Session,
  { askedAt, askedOn }: Grant,
  relayAllowance: number,
): Lease {
  // What another connection has served says nothing of this one's touches.
  if (connection === undefined || connection !== askedOn) return new Lease(runtime, askedAt, 0)
  // Who stood still has not sent his heartbeats.
  const touched = connection.touchAnsweredBy(askedAt.now - relayAllowance)
  const byHeartbeats = new Lease(runtime, touched, leaseTimes.proven(T))
  const byGrant = new Lease(runtime, askedAt, leaseTimes.provisional(T))
  return byHeartbeats.remaining < byGrant.remaining ? byHeartbeats : byGrant
}

async function provenLease(zk: ZooKeeper, session: Session, { node }: Grant, relayAllowance: number): Promise<Lease> {
  const proof = await new Confirmation(zk, session).prove(() => [node], relayAllowance)
  if (proof === undefined || proof.refused.length > 0) throw new NodeVanished()
  return new Lease(zk.runtime, proof.touched, leaseTimes.proven(session.shortestTimeout))
}

// The invariants of a semaphore.
import { executedParts } from '../history/executed-parts.ts'
import type { Played } from '../history/played.ts'
import { LEASES, LOCKS, PATH } from '../play/paths.ts'
import { heldOnTrust } from '../checks/attempts.ts'
import type { Check, Violation } from '../checks/check.ts'
import { type Grant, heldOverTime } from '../checks/holders.ts'

/**
 * S1: no grant exceeds the number of permits that is stored when it is committed. A grant is a node in `leases` that outlives its
 * transaction: the folder is created with a brief node. It is counted in the ensemble's log, so it
 * also holds for zombies, and for holders without a lease.
 */
export const atMostPermits: Check = ({ committed }) => {
  const leases = new Set<string>()
  const violations: Violation[] = []
  let permits: number | undefined
  for (const { header, txn } of committed) {
    const created: string[] = []
    for (const each of executedParts(txn)) {
      if (each.type === 'create' && each.path.startsWith(`${LEASES}/`)) {
        created.push(each.path)
        leases.add(each.path)
      } else if (each.type === 'delete') leases.delete(each.path)
      else if (each.type === 'closeSession') for (const path of each.paths) leases.delete(path)
      if ((each.type === 'create' || each.type === 'setData') && each.path === PATH) permits = numberIn(each.data)
    }
    const isGrant = created.some((path) => leases.has(path))
    if (!isGrant || (permits !== undefined && leases.size <= permits)) continue
    const what = `0x${header.zxid.toString(16)} made the ${leases.size} nodes ${[...leases].join(', ')} of ${permits} permits`
    violations.push({ invariant: 'S1', at: undefined, what })
  }
  return violations.slice(0, 1)
}

/**
 * S2: no permit has two holders at the same time, in true time. `heldOverTime` says what counts as held. And the permits of all
 * holders are never more than the largest number that was ever stored.
 */
export const onePermitOneHolder: Check = (played) => {
  const most = mostPermits(played)
  const onTrust = heldOnTrust(played)
  const isLeftOut = (grant: Grant) => pathsOf(grant).some((path) => onTrust.has(path))
  for (const { at, holds } of heldOverTime(played, isLeftOut)) {
    const permits = holds.flatMap((each) => each.permits ?? [])
    if (new Set(permits).size === permits.length && permits.length <= most) continue
    const named = holds.map((each) => `attempt ${each.attempt} (${each.permits?.join()})`)
    return [{ invariant: 'S2', at, what: `${named.join(' and ')} hold at once, of ${most} permits` }]
  }
  return []
}

/** S3: permits are granted in the order in which the contenders queued: none as long as an older one queues. */
export const permitsInOrder: Check = ({ log }) => {
  const queued = log.below(LOCKS)
  const granted = log.below(LEASES).filter(({ czxid, end }) => end?.zxid !== czxid)
  return granted.flatMap(({ path, place, czxid, createdAt }): Violation[] => {
    const older = queued.find((each) => each.place < place && (each.end === undefined || each.end.zxid > czxid))
    if (older === undefined) return []
    return [{ invariant: 'S3', at: createdAt, what: `${path} was granted while ${older.path} queued before it` }]
  })
}

/** The nodes of all permits of a grant: an operator may delete any of them. */
function pathsOf({ path, permits = [] }: Grant): string[] {
  return permits.map((permit) => path.replace(/\d+$/, `${permit}`))
}

function mostPermits({ committed }: Played): number {
  let most = 0
  for (const { txn } of committed) {
    for (const each of executedParts(txn)) {
      const isNumber = (each.type === 'create' || each.type === 'setData') && each.path === PATH
      if (isNumber) most = Math.max(most, numberIn(each.data) ?? 0)
    }
  }
  return most
}

function numberIn(data: Uint8Array | null): number | undefined {
  if (data?.length !== 4) return undefined
  return new DataView(data.buffer, data.byteOffset, 4).getInt32(0)
}

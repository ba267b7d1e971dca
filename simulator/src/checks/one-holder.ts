import { exclude } from '../scenario/hold-kind.ts'
import { heldOnTrust } from './attempts.ts'
import type { Check } from './check.ts'
import { firstPair, type Grant, heldOverTime } from './holders.ts'

/**
 * I1: held intervals of different owners never overlap in true time. `heldOverTime` says what counts as held. A hold without a
 * lease is left out.
 */
export const oneHolder: Check = (played) => {
  const onTrust = heldOnTrust(played)
  for (const { at, holds } of heldOverTime(played, ({ path }) => onTrust.has(path))) {
    const pair = firstPair(holds, (one, other) => exclude(one.kind, other.kind))
    if (pair !== undefined) return [{ invariant: 'I1', at, what: `${pair.map(nameOf).join(' and ')} hold at once` }]
  }
  return []
}

function nameOf({ attempt, client, kind, path }: Grant): string {
  return `attempt ${attempt} of client ${client} (${kind}, ${path})`
}

// Faults of the look-ups of a client.
import { CLOSED, SILENT } from '../play/addresses.ts'
import { clientOf, type FaultOf, type Heal, type Target } from './target.ts'

const processOf = (target: Target, { client }: FaultOf<'failLookUp' | 'slowLookUp' | 'misdirect'>) =>
  target.clients[clientOf(target, client)]!.process

export const failLookUp = (fault: FaultOf<'failLookUp'>, target: Target): Heal | undefined =>
  target.resolver?.fail(processOf(target, fault))

export const slowLookUp = (fault: FaultOf<'slowLookUp'>, target: Target): Heal | undefined =>
  target.resolver?.slow(processOf(target, fault), fault.by)

export const misdirect = (fault: FaultOf<'misdirect'>, target: Target): Heal | undefined => {
  const { resolver, model } = target
  if (resolver === undefined) return undefined
  const { names } = resolver
  const places = { closed: CLOSED, silent: SILENT }
  const addresses = fault.to.map((to) => (typeof to === 'number' ? model.members[to]!.name : places[to]))
  return resolver.redirect(processOf(target, fault), names[fault.name % names.length]!, addresses)
}

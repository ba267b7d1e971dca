// What befalls a member of the ensemble, and the network between members.
import type { EnsembleModel } from '@zk/testing'
import type { MemberTarget } from '../scenario/fault.ts'
import type { FaultOf, Heal, Target } from './target.ts'

type Member = EnsembleModel['members'][number]

function memberOf({ members, leader }: EnsembleModel, target: MemberTarget): Member | undefined {
  return target === 'leader' ? leader : members[target]
}

export const crash = (fault: FaultOf<'crash'>, { model }: Target): Heal | undefined => {
  const member = memberOf(model, fault.member)
  if (member === undefined || member.role === 'down') return undefined
  member.kill()
  return () => member.restart()
}

export const freeze = (fault: FaultOf<'freeze'>, { model }: Target): Heal | undefined => {
  const member = memberOf(model, fault.member)
  if (member === undefined || member.isFrozen) return undefined
  member.freeze()
  return () => member.thaw()
}

export const lag = (fault: FaultOf<'lag'>, { model }: Target): Heal => {
  const member = model.members[fault.member]!
  member.lag(fault.by)
  return () => member.catchUp()
}

export const refuse = (fault: FaultOf<'refuse'>, { model }: Target): Heal => {
  const member = model.members[fault.member]!
  member.refuse()
  return () => member.accept()
}

export const cutFollower = (fault: FaultOf<'cutFollower'>, { model }: Target): Heal | undefined => {
  const leader = model.leader?.name
  const followers = model.members.filter(({ role }) => role === 'follower')
  if (leader === undefined || followers.length === 0) return undefined
  const follower = followers[fault.nth % followers.length]!.name
  model.network.cut(leader, follower)
  return () => model.network.heal(leader, follower)
}

export const isolateLeader = (_: FaultOf<'isolateLeader'>, { model }: Target): Heal | undefined => {
  const leader = model.leader?.name
  if (leader === undefined) return undefined
  const others = model.members.map(({ name }) => name).filter((name) => name !== leader)
  // Of five members one stays with it: a minority all the same.
  const minority = others.splice(0, Math.max(Math.ceil(model.members.length / 2) - 2, 0))
  model.network.partition([leader, ...minority], others)
  return () => model.network.heal()
}

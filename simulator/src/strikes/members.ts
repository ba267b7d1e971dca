// Faults of a member of the ensemble, and of the network between members.
import type { EnsembleModel } from '@zk/testing'
import type { ClientTarget, FaultOf, MemberTarget } from '../scenario/fault.ts'
import { clientOf, type Heal, type Target } from './target.ts'

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

/** The follower of the client. Any follower if the client is at the leader, or has no connection. */
function followerOf(target: Target, client: ClientTarget): Member | undefined {
  const { clients, model } = target
  const { sessionId } = clients[clientOf(target, client)]!.program
  const followers = model.members.filter(({ role }) => role === 'follower')
  const serves = ({ connections }: Member) => connections.some(({ session }) => session === sessionId)
  return followers.find(serves) ?? followers[0]
}

export const stallLink = (fault: FaultOf<'stallLink'>, target: Target): Heal | undefined => {
  const { network, leader } = target.model
  const follower = followerOf(target, fault.client)
  if (leader === undefined || follower === undefined) return undefined
  const [from, to] = fault.way === 'toFollower' ? [leader, follower] : [follower, leader]
  network.stall(from, to)
  return () => network.resume(from, to)
}

/** How often new commits are looked for, in ms. */
const LOOKING = 10

export const turnLink = ({ client, turnsAfter, thenOpen }: FaultOf<'turnLink'>, target: Target): Heal | undefined => {
  const { clients, model, world } = target
  const { network, leader } = model
  const follower = followerOf(target, client)
  if (leader === undefined || follower === undefined) return undefined
  const { program } = clients[clientOf(target, client)]!
  network.stall(leader, follower)
  let last = leader.zxid
  const look = (): void => {
    const news = model.committedAfter(last) ?? []
    last = news.at(-1)?.header.zxid ?? last
    if (news.every(({ header }) => header.sessionId !== program.sessionId)) {
      cancel = world.after(LOOKING, look)
      return
    }
    network.stall(follower, leader)
    network.resume(leader, follower)
    cancel = world.after(thenOpen, () => network.stall(leader, follower))
  }
  const begin = () => {
    last = leader.zxid
    look()
  }
  let cancel = world.after(turnsAfter, begin)
  return () => {
    cancel()
    network.resume(leader, follower)
    network.resume(follower, leader)
  }
}

export const loseTouch = (fault: FaultOf<'loseTouch'>, target: Target): undefined => {
  followerOf(target, fault.client)?.loseTouch()
}

export const isolateLeader = (_: FaultOf<'isolateLeader'>, { model }: Target): Heal | undefined => {
  const leader = model.leader?.name
  if (leader === undefined) return undefined
  const others = model.members.map(({ name }) => name).filter((name) => name !== leader)
  // With five members one stays with it, which is still a minority.
  const minority = others.splice(0, Math.max(Math.ceil(model.members.length / 2) - 2, 0))
  model.network.partition([leader, ...minority], others)
  return () => model.network.heal()
}

// Faults of a client: of its network and its process.
import type { ClientTarget, FaultOf, Way } from '../scenario/fault.ts'
import { clientOf, type Heal, linksOf, type Target } from './target.ts'

export const reset = ({ client }: FaultOf<'reset'>, target: Target): undefined => {
  for (const link of linksOf(target, client)) link.reset()
}

export const halfOpen = ({ client, way }: FaultOf<'halfOpen'>, target: Target): undefined => {
  for (const link of linksOf(target, client)) link.loseForEver(way)
}

export const hold = ({ client, member, way }: FaultOf<'hold'>, target: Target): Heal =>
  holdRoutes(target, client, [member], way)

export const cutOff = ({ client, way }: FaultOf<'cutOff'>, target: Target): Heal =>
  holdRoutes(target, client, [...target.model.members.keys()], way)

function holdRoutes(target: Target, client: ClientTarget, members: readonly number[], way: Way): Heal {
  const { model, network, clients } = target
  const { process } = clients[clientOf(target, client)]!
  const set = (isHeld: boolean) => {
    const held = { ...(way !== 'down' && { up: isHeld }), ...(way !== 'up' && { down: isHeld }) }
    for (const member of members) network.hold(process, model.members[member]!.name, held)
  }
  set(true)
  return () => set(false)
}

export const slow = ({ client, latency }: FaultOf<'slow'>, target: Target): Heal => {
  const { model, network, clients } = target
  const { process } = clients[clientOf(target, client)]!
  const routes = model.members.map(({ name }) => network.route(process, name))
  const ends = routes.map((route) => route.slow(latency))
  return () => {
    for (const end of ends) end()
  }
}

export const stall = ({ client: who, for: duration }: FaultOf<'stall'>, target: Target): undefined => {
  const { clients, recorder } = target
  const client = clientOf(target, who)
  const { process } = clients[client]!
  if (process.isStalled || process.isKilled) return
  recorder.add({ type: 'stalled', client })
  process.stall(duration, () => recorder.add({ type: 'awake', client }))
}

export const wallJump = ({ client, by }: FaultOf<'wallJump'>, target: Target): undefined => {
  target.clients[clientOf(target, client)]!.process.setWallClock(by)
}

export const killClient = ({ client: who, how }: FaultOf<'killClient'>, target: Target): undefined => {
  const { clients, recorder } = target
  const client = clientOf(target, who)
  const { process } = clients[client]!
  if (process.isKilled) return
  recorder.add({ type: 'killed', client })
  process.kill(how)
}

export const expire = ({ client }: FaultOf<'expire'>, target: Target): undefined => {
  target.operator.expire(target.clients[clientOf(target, client)]!.program.sessionId)
}

export const replaceSession = ({ client }: FaultOf<'replaceSession'>, target: Target): Heal => {
  const session = target.clients[clientOf(target, client)]!.program.sessionId
  const rule = target.model.faults.replaceSession({ session })
  return () => rule.remove()
}

export const move = ({ client, member }: FaultOf<'move'>, target: Target): undefined => {
  const { clients, model, operator } = target
  operator.move(clients[clientOf(target, client)]!.program.sessionId, model.members[member]!.name)
}

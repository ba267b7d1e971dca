// What befalls a client: its network and its process.
import type { Way } from '../scenario/fault.ts'
import type { FaultOf, Heal, Target } from './target.ts'

export const reset = (fault: FaultOf<'reset'>, { network, clients }: Target): undefined => {
  for (const link of network.linksOf(clients[fault.client]!.process)) link.reset()
}

export const halfOpen = (fault: FaultOf<'halfOpen'>, { network, clients }: Target): undefined => {
  for (const link of network.linksOf(clients[fault.client]!.process)) link.loseForEver(fault.way)
}

export const hold = ({ client, member, way }: FaultOf<'hold'>, target: Target): Heal =>
  holdRoutes(target, client, [member], way)

export const cutOff = ({ client, way }: FaultOf<'cutOff'>, target: Target): Heal =>
  holdRoutes(target, client, [...target.model.members.keys()], way)

function holdRoutes({ model, network, clients }: Target, client: number, members: number[], way: Way): Heal {
  const { process } = clients[client]!
  const set = (isHeld: boolean) => {
    const held = { ...(way !== 'down' && { up: isHeld }), ...(way !== 'up' && { down: isHeld }) }
    for (const member of members) network.hold(process, model.members[member]!.name, held)
  }
  set(true)
  return () => set(false)
}

export const slow = (fault: FaultOf<'slow'>, { model, network, clients }: Target): Heal => {
  const routes = model.members.map(({ name }) => network.route(clients[fault.client]!.process, name))
  const before = routes.map(({ latency }) => latency)
  for (const route of routes) route.latency = fault.latency
  return () => {
    for (const [index, route] of routes.entries()) route.latency = before[index]!
  }
}

export const stall = ({ client, for: duration }: FaultOf<'stall'>, { clients, recorder }: Target): undefined => {
  const { process } = clients[client]!
  if (process.isStalled || process.isKilled) return
  recorder.add({ type: 'stalled', client })
  process.stall(duration, () => recorder.add({ type: 'awake', client }))
}

export const wallJump = ({ client, by }: FaultOf<'wallJump'>, { clients }: Target): undefined => {
  clients[client]!.process.clock.wallOffset += by
}

export const killClient = ({ client, how }: FaultOf<'killClient'>, { clients, network, recorder }: Target): undefined => {
  const { process } = clients[client]!
  if (process.isKilled) return
  recorder.add({ type: 'killed', client })
  network.kill(process, how === 'machine')
}

export const expire = ({ client }: FaultOf<'expire'>, { clients, operator }: Target): undefined => {
  operator.expire(clients[client]!.program.sessionId)
}

export const move = ({ client, member }: FaultOf<'move'>, { clients, model, operator }: Target): undefined => {
  operator.move(clients[client]!.program.sessionId, model.members[member]!.name)
}

// Faults of what a client is told of servers: of its look-ups, and of lists of servers.
import { addressOf, listed } from '../play/addresses.ts'
import type { FaultOf } from '../scenario/fault.ts'
import { clientOf, type Heal, type Target } from './target.ts'

const processOf = (target: Target, { client }: FaultOf<'failLookUp' | 'slowLookUp' | 'misdirect'>) =>
  target.clients[clientOf(target, client)]!.process

export const failLookUp = (fault: FaultOf<'failLookUp'>, target: Target): Heal | undefined =>
  target.resolver?.fail(processOf(target, fault))

export const slowLookUp = (fault: FaultOf<'slowLookUp'>, target: Target): Heal | undefined =>
  target.resolver?.slow(processOf(target, fault), fault.by)

export const misdirect = (fault: FaultOf<'misdirect'>, target: Target): Heal | undefined => {
  const { resolver, hosts } = target
  if (resolver === undefined) return undefined
  const addresses = fault.to.map((to) => addressOf(to, membersOf(target)))
  return resolver.redirect(processOf(target, fault), hosts[fault.name % hosts.length]!, addresses)
}

const membersOf = ({ model }: Target) => model.members.map(({ name }) => name)

export const misconfigure = ({ servers }: FaultOf<'misconfigure'>, target: Target): undefined => {
  target.operator.configure(servers.map((server) => listed(server, membersOf(target))))
}

export const relist = ({ client, servers }: FaultOf<'relist'>, target: Target): undefined => {
  const { process, program } = target.clients[clientOf(target, client)]!
  const list = servers.map((server) => `${addressOf(server, membersOf(target))}:2181`).join()
  if (!process.isKilled && !process.isStalled) process.run(() => program.updateServers(list))
}

import { dockerClient } from './docker.ts'

export interface PeerNetwork {
  /** The address at which nodes reach this machine, if the engine is on it. */
  readonly host: string
  /** The address of each node. */
  readonly addresses: readonly string[]
}

/**
 * Makes a network on which each node always keeps the same address.
 *
 * Names instead of addresses would not work: a server that starts while the name of a peer cannot be resolved remembers that
 * failure. If this peer then wins an election, the election fails only after 10 s, when the servers give up.
 */
export async function createPeerNetwork(
  name: string,
  labels: Record<string, string>,
  count: number,
): Promise<PeerNetwork> {
  const { dockerode } = (await dockerClient()).container
  for (let attempt = 1; ; attempt++) {
    const subnet = await findFreeSubnet(name, labels)
    try {
      await dockerode.createNetwork({ Name: name, Labels: labels, IPAM: { Config: [{ Subnet: subnet }] } })
      const addresses = Array.from({ length: count }, (_, i) => addressIn(subnet, i + 2))
      return { host: addressIn(subnet, 1), addresses }
    } catch (error) {
      // Meanwhile another network has got this subnet.
      if (attempt === 5 || !/overlap/i.test(String(error))) throw error
    }
  }
}

/** Addresses can be chosen only in a given subnet, and only docker knows which subnets are free. */
async function findFreeSubnet(name: string, labels: Record<string, string>): Promise<string> {
  const { dockerode } = (await dockerClient()).container
  const probe = await dockerode.createNetwork({ Name: name, Labels: labels })
  const { IPAM } = await probe.inspect()
  await probe.remove()
  const subnet = IPAM?.Config?.[0]?.Subnet
  if (subnet === undefined) throw new Error('Docker gave a network no subnet')
  return subnet
}

/** The address with this index. Index 0 is the network itself, and index 1 is docker's. */
function addressIn(subnet: string, index: number): string {
  const [a, b, c, d = 0] = subnet.split(/[./]/).map(Number)
  return `${a}.${b}.${c}.${d + index}`
}

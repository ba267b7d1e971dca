import { createServer } from 'node:net'

/**
 * Ports that no program listens on now. This may change before they are used.
 *
 * They are below the range that systems use for outgoing connections: from that range, a client that dials a stopped node
 * repeatedly may be given that very port as its own, and then talk to itself or keep the node from starting.
 */
export async function freePorts(count: number): Promise<number[]> {
  const free = new Set<number>()
  while (free.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) free.add(port)
  }
  return [...free]
}

const LOWEST = 20_000
const HIGHEST = 32_000

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}

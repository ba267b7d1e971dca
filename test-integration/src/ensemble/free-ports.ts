import { createServer } from 'node:net'

/**
 * Ports on which no program listens now. This may change before they are used.
 *
 * The ports are below the range that systems use for outgoing connections. From that range, a client that repeatedly dials a
 * stopped node could get the node's port as its own. Then it would talk to itself, or keep the node from starting.
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

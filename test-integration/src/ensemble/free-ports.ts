import { createServer } from 'node:net'

/**
 * Ports nobody listens on now. Somebody may by the time they are used.
 *
 * Below the range systems take ports for outgoing connections from: there, a client that dials a stopped node again and
 * again may be given that very port as its own, and either talk to itself or keep the node from starting.
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

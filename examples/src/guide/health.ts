// A service with a health endpoint. Code of docs/guide/production.md.
//
//     node examples/dist/guide/health.js host:port,host:port 8080
//     curl localhost:8080/readyz
import { createServer } from 'node:http'
import { connect, ConnectError, type ZooKeeper } from '@zk/recipes'

const [connectString = '127.0.0.1:2181', port = '8080'] = process.argv.slice(2)
const stopping = new AbortController()

// #region main
let zk: ZooKeeper | undefined

// Before there is a client: a probe finds the port even while ZooKeeper is unavailable.
const server = createServer((request, response) => {
  const state = zk?.state ?? { name: 'connecting' }
  const isAlive = state.name !== 'authFailed' // a client that was refused is of no further use
  const isReady = zk !== undefined && isAlive && !stopping.signal.aborted // even while ZooKeeper is unavailable
  const isWell = request.url === '/readyz' ? isReady : isAlive
  response.writeHead(isWell ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify(state))
})

async function connected(): Promise<ZooKeeper> {
  for (;;) {
    try {
      return await connect(connectString, { signal: stopping.signal })
    } catch (error) {
      if (!ConnectError.is(error)) throw error // the credentials were refused, or it is to stop
      console.warn(error.message)
    }
  }
}
// #endregion

server.listen(Number(port), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
process.once('SIGTERM', () => {
  stopping.abort()
  server.close()
  void zk?.close()
})
zk = await connected().catch((error: unknown) => {
  if (!stopping.signal.aborted) throw error
  return undefined
})

// A service with a health endpoint. Code of docs/guide/production.md.
//
//     node examples/dist/guide/health.js host:port,host:port 8080
//     curl localhost:8080/readyz
import { createServer } from 'node:http'
import { connect } from '@zk/recipes'

const [connectString = '127.0.0.1:2181', port = '8080'] = process.argv.slice(2)
const zk = await connect(connectString, { sessionTimeout: 10_000 })

// #region main
const server = createServer((request, response) => {
  const { state } = zk
  const isReady = state.name === 'connected'
  const status = request.url === '/readyz' && !isReady ? 503 : 200
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(state))
})
// #endregion

server.listen(Number(port), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
process.once('SIGTERM', () => {
  server.close()
  void zk.close()
})

// Takes a lock on a server of its own, and prints the fencing token as text.
import { connect, fencingText, Lock } from '@zk/recipes'
import { TestServer } from '@zk/testing'

const server = await TestServer.start()
const zk = await connect(server.connectString)
await new Lock(zk, '/locks/report').run((held) =>
  console.log(`held ${held.isHeld()} ${fencingText(held.fencingToken)}`),
)
await zk.close()
await server.close()

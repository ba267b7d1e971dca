// A proxy that prints the messages between a client and a server, without passwords, and with the first bytes of each node's data.
//
//     node examples/dist/wire-proxy.js 127.0.0.1:2182 127.0.0.1:2181
import { connect, createServer, type Socket } from 'node:net'
import * as wire from '@zk/wire'

const [here, there] = process.argv.slice(2).map((address) => wire.parseConnectString(address).servers[0]!)
createServer({ allowHalfOpen: true }, (client) => {
  const server = connect({ ...there!, allowHalfOpen: true })
  const { fromClient, fromServer } = new wire.Conversation()
  pass(client, server, fromClient, '>')
  pass(server, client, fromServer, '<')
}).listen(here, () => console.log('listening'))

function pass(
  from: Socket,
  to: Socket,
  messages: wire.MessageDecoder<wire.ClientMessage | wire.ServerMessage>,
  arrow: string,
): void {
  from.on('error', () => to.destroy()).pipe(to)
  from.on('data', (chunk) => {
    messages.push(chunk)
    for (;;) {
      try {
        const message = messages.next()
        if (message === undefined) return
        console.log(arrow, wire.formatMessage(message, { data: 40 }))
      } catch (error) {
        console.log(arrow, String(error))
      }
    }
  })
}

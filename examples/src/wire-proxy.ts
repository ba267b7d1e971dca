// A proxy that prints the messages between a client and a server, without passwords. The data of nodes is printed.
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

function pass(from: Socket, to: Socket, messages: wire.MessageDecoder<object>, arrow: string): void {
  from.on('error', () => to.destroy()).pipe(to)
  from.on('data', (chunk) => {
    messages.push(chunk)
    for (;;) {
      try {
        const message = messages.next()
        if (message === undefined) return
        console.log(arrow, withoutSecrets(message))
      } catch (error) {
        console.log(arrow, String(error))
      }
    }
  })
}

/** Passwords of sessions, credentials, and tokens of SASL: with one of them another program could act as this client. */
const secrets = ['passwd', 'auth', 'token']

function withoutSecrets(message: object): object {
  return Object.fromEntries(
    Object.entries(message).map(([key, value]: [string, unknown]) => {
      const isBody = key === 'request' || key === 'response'
      if (isBody && typeof value === 'object' && value !== null && !Array.isArray(value))
        return [key, withoutSecrets(value)]
      return [key, secrets.includes(key) ? '(secret)' : value]
    }),
  )
}

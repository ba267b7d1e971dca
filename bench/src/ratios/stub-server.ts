// A server that answers every request at once with success; a read of a node always gets the same small node. Prints its
// port.
import { createServer, type Socket } from 'node:net'
import { SMALL } from './works.ts'

const CONNECT_RESPONSE = 37
const REPLY_HEADER = 16
const STAT = 68
const GET_DATA = 4

const connected = Buffer.alloc(4 + CONNECT_RESPONSE)
connected.writeInt32BE(CONNECT_RESPONSE, 0)
connected.writeInt32BE(30_000, 8)
connected.writeBigInt64BE(1n, 12)
connected.writeInt32BE(16, 20)

const plain = Buffer.alloc(4 + REPLY_HEADER)
plain.writeInt32BE(REPLY_HEADER, 0)

const withNode = Buffer.alloc(4 + REPLY_HEADER + 4 + SMALL + STAT)
withNode.writeInt32BE(withNode.length - 4, 0)
withNode.writeInt32BE(SMALL, 4 + REPLY_HEADER)
withNode.fill(97, 8 + REPLY_HEADER, 8 + REPLY_HEADER + SMALL)

function serve(socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  let isConnected = false
  let zxid = 0
  let rest: Buffer | undefined
  socket.on('data', (chunk) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    const answers: Buffer[] = []
    let at = 0
    while (bytes.length - at >= 4) {
      const end = at + 4 + bytes.readInt32BE(at)
      if (bytes.length < end) break
      if (!isConnected) answers.push(connected)
      else {
        const answer = Buffer.from(bytes.readInt32BE(at + 8) === GET_DATA ? withNode : plain)
        answer.writeInt32BE(bytes.readInt32BE(at + 4), 4)
        answer.writeInt32BE(++zxid, 12)
        answers.push(answer)
      }
      isConnected = true
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
    if (answers.length > 0) socket.write(Buffer.concat(answers))
  })
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(address.port)
})

import { once } from 'node:events'
import { connect } from 'node:net'

/** How many watches a server keeps, according to its four-letter word `mntr`. */
export async function watchCountOf(address: string): Promise<number> {
  const [host = '', port = ''] = address.split(':')
  const socket = connect(Number(port), host)
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  socket.write('mntr')
  await once(socket, 'close')
  return Number(/^zk_watch_count\t(\d+)$/m.exec(text)![1])
}

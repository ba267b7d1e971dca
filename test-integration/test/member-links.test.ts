// The proxy between members: alone, between sockets of this process, and between real servers.
import { once } from 'node:events'
import { connect as dial, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { onTestFinished, describe, expect, test } from 'vitest'
import { until } from '../src/ensemble/index.ts'
import { MemberLinks } from '../src/links/member-links.ts'

const [one, two] = [{ id: 1 }, { id: 2 }]
const addresses = ['127.0.0.2', '127.0.0.3']

/** What one end of a connection has received. */
class End {
  readonly socket: Socket
  received = ''
  hasEnded = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (this.received += text))
    socket.on('error', () => {})
    socket.on('close', () => (this.hasEnded = true))
  }

  async receives(text: string): Promise<void> {
    await until(`it to receive "${text}"`, async () => this.received === text, {
      interval: 5,
      instead: () => this.received,
    })
  }

  async ends(): Promise<void> {
    await until('it to end', async () => this.hasEnded, { interval: 5 })
  }
}

async function startLinks(): Promise<MemberLinks> {
  const links = await MemberLinks.start({ host: '127.0.0.1', addresses })
  onTestFinished(() => links.close())
  return links
}

/** The member listens at the address that its peers are given. */
async function listen(links: MemberLinks, { id }: { readonly id: number }, port: 1 | 2 = 1): Promise<Server> {
  const server = createServer()
  server.listen(Number(links.meetingPoints[id - 1]!.split(':')[port]), addresses[id - 1])
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

/** A connection from member one to member two, and two's end of it once it is established. */
function connectTo(server: Server): { readonly near: End; readonly far: Promise<End> } {
  const far = once(server, 'connection').then(([socket]: Socket[]) => new End(socket!))
  const { port } = server.address() as AddressInfo
  const near = new End(dial({ host: '127.0.0.1', port, localAddress: addresses[0]! }))
  onTestFinished(() => void near.socket.destroy())
  return { near, far }
}

describe('MemberLinks', () => {
  test('MemberLinks forwards both ports of a member, both ways', async () => {
    const links = await startLinks()
    for (const port of [1, 2] as const) {
      const { near, far } = connectTo(await listen(links, two, port))
      near.socket.write('hello')
      await (await far).receives('hello')
      ;(await far).socket.write('welcome')
      await near.receives('welcome')
    }
  })

  test('MemberLinks.hold keeps one direction in order while the other passes, until it is released', async () => {
    const links = await startLinks()
    const { near, far } = connectTo(await listen(links, two))
    const there = await far
    links.hold(one, two)
    for (const text of ['a', 'b', 'c']) {
      near.socket.write(text)
      there.socket.write(text)
      await near.receives('abc'.slice(0, near.received.length + 1))
    }
    expect(there.received).toBe('')
    links.release(one, two)
    await there.receives('abc')
    near.socket.write('d')
    await there.receives('abcd')
  })

  test('MemberLinks.release of the one direction and hold of the other leave no moment in between', async () => {
    const links = await startLinks()
    const { near, far } = connectTo(await listen(links, two))
    const there = await far
    // It answers at once what it receives.
    there.socket.on('data', (text: string) => there.socket.write(text.toUpperCase()))
    links.hold(one, two)
    near.socket.write('a')
    links.release(one, two)
    links.hold(two, one)
    near.socket.write('b')
    await there.receives('ab')
    expect(near.received).toBe('')
    links.release(two, one)
    await near.receives('AB')
  })

  test('MemberLinks.hold applies to future connections too, and holds their end', async () => {
    const links = await startLinks()
    const server = await listen(links, two)
    links.hold(one, two)
    const { near, far } = connectTo(server)
    near.socket.end('last words')
    const there = await far
    there.socket.write('received nothing')
    await near.receives('received nothing')
    expect(there).toMatchObject({ received: '', hasEnded: false })
    links.release(one, two)
    await Promise.all([near.ends(), there.ends()])
    expect(there.received).toBe('last words')
  })

  test('MemberLinks.cut ends the connections of the two, with what was kept, and new ones until it is mended', async () => {
    const links = await startLinks()
    const server = await listen(links, two)
    const { near, far } = connectTo(server)
    const there = await far
    links.hold(one, two)
    near.socket.write('lost')
    links.cut(two, one)
    await Promise.all([near.ends(), there.ends()])
    expect(there.received).toBe('')
    const refused = dial({ port: (server.address() as AddressInfo).port, localAddress: addresses[0]! })
    await new End(refused).ends()
    links.mend()
    const again = connectTo(server)
    again.near.socket.write('back')
    await (await again.far).receives('back')
  })

  test('MemberLinks.mend undoes every hold and every cut', async () => {
    const links = await startLinks()
    const server = await listen(links, two)
    links.hold(one, two)
    links.hold(two, one)
    links.cut(one, two)
    links.mend()
    const { near, far } = connectTo(server)
    near.socket.write('hello')
    ;(await far).socket.write('welcome')
    await Promise.all([(await far).receives('hello'), near.receives('welcome')])
  })

  test('MemberLinks waits for a member that does not listen yet, and keeps what was sent to it', async () => {
    const links = await startLinks()
    const [host, port] = links.meetingPoints[1]!.split(':')
    const near = new End(dial({ host: host!, port: Number(port), localAddress: addresses[0]! }))
    onTestFinished(() => void near.socket.destroy())
    await once(near.socket, 'connect')
    near.socket.write('early')
    const server = await listen(links, two)
    const [socket] = (await once(server, 'connection')) as [Socket]
    await new End(socket).receives('early')
    expect(near.hasEnded).toBe(false)
  })

  test('MemberLinks refuses a connection from an address that belongs to no member', async () => {
    const links = await startLinks()
    const server = await listen(links, two)
    const stranger = new End(dial({ port: (server.address() as AddressInfo).port, localAddress: '127.0.0.9' }))
    await stranger.ends()
    expect(stranger.received).toBe('')
  })
})

import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ask, parseCons, parseMntr, parseSrvr } from '@zk/conform/internal'

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests\n'

describe('four-letter words', () => {
  test('parseSrvr reads mode and epoch, whatever the version looks like', () => {
    const text =
      'Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024\nZxid: 0x30000000a\nMode: leader\nNode count: 5\n'
    expect(parseSrvr(text)).toEqual({ mode: 'leader', epoch: 3n, zxid: 0x30000000an })
  })

  test('parseCons reads sessions, and connections that have none', () => {
    const text =
      ' /172.17.0.1:51332[1](queued=0,recved=3,sent=3,sid=0x300001,lop=PING,to=8000)\n /0:0:0:0:0:0:0:1:40[0](queued=0,recved=1,sent=0)\n\n'
    const [session, bare] = parseCons(text)
    expect(session?.peer).toBe('172.17.0.1:51332')
    expect(session?.fields.get('sid')).toBe('0x300001')
    expect(session?.fields.get('to')).toBe('8000')
    expect(bare?.peer).toBe('0:0:0:0:0:0:0:1:40')
    expect(bare?.fields.has('sid')).toBe(false)
  })

  test.each(['', NOT_SERVING])('every parser takes %j for a node that does not serve', (text) => {
    expect([parseSrvr(text), parseMntr(text).size, parseCons(text)]).toEqual([undefined, 0, []])
  })

  test('ask returns the whole answer', async () => {
    await using server = await listen((socket) => {
      socket.once('data', (word: Buffer) => socket.end(`${word.toString()} answered`))
    })
    expect(await ask(server.port, 'srvr')).toBe('srvr answered')
  })

  test('ask returns nothing when the node refuses', async () => {
    const server = await listen(() => {})
    await server[Symbol.asyncDispose]()
    expect(await ask(server.port, 'ruok')).toBe('')
  })

  test('ask returns nothing when the node accepts and closes, or resets', async () => {
    await using closing = await listen((socket) => socket.end())
    await using resetting = await listen((socket) => socket.resetAndDestroy())
    expect(await ask(closing.port, 'ruok')).toBe('')
    expect(await ask(resetting.port, 'ruok')).toBe('')
  })

  test('ask returns nothing when the node accepts and does not answer', async () => {
    await using server = await listen(() => {})
    expect(await ask(server.port, 'ruok', { timeout: 50 })).toBe('')
  })
})

async function listen(accept: (socket: Socket) => void): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    accept(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close }
}

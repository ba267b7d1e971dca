import { expect, test } from 'vitest'
import { ask, clientsIn, valuesIn } from '../src/ensemble/four-letter-word.ts'
import { TestServer } from '@zk/testing'

test('clientsIn finds the address of each session, and leaves out connections without one', () => {
  const cons = ` /127.0.0.1:45378[1](queued=0,recved=9,sent=9,sid=0x1a224f406810004,lop=PING,est=1795916352,to=2000)
 /0:0:0:0:0:0:0:1:33332[1](queued=0,recved=5,sent=5,sid=0xfa224f406810006,lop=GETD,est=1795916353,to=2000)
 /127.0.0.1:45400[0](queued=0,recved=1,sent=0)
`
  expect(clientsIn(cons)).toEqual(
    new Map([
      [0x1a224f406810004n, '127.0.0.1:45378'],
      [0xfa224f406810006n, '0:0:0:0:0:0:0:1:33332'],
    ]),
  )
  expect(clientsIn('This ZooKeeper instance is not currently serving requests\n')).toEqual(new Map())
})

test('valuesIn reads the words that are lists of values, and keeps what is no exact number', () => {
  const mntr = 'zk_version\t3.8.0-\tx\nzk_avg_latency\t0.5\nzk_min_latency\t-1\nzk_big\t9223372036854775807\n'
  expect(valuesIn('mntr', mntr)).toEqual({
    zk_version: '3.8.0-\tx',
    zk_avg_latency: 0.5,
    zk_min_latency: -1,
    zk_big: '9223372036854775807',
  })
  expect(valuesIn('conf', 'clientPort=2181\ndataDir=/data=a\nmembership: \n')).toEqual({
    clientPort: 2181,
    dataDir: '/data=a',
  })
  expect(valuesIn('srvr', 'Mode: leader\n')).toBeUndefined()
  expect(valuesIn('mntr', 'This ZooKeeper instance is not currently serving requests\n')).toBeUndefined()
})

test('ask tells an answer, a refusal, and no answer apart', async () => {
  await using server = await TestServer.start({ fourLetterWords: ['ruok'] })
  const address = { host: '127.0.0.1', port: server.port }
  const timeout = 5_000
  expect(await ask(address, 'ruok', { timeout })).toEqual({ name: 'text', text: 'imok' })
  expect(await ask(address, 'mntr', { timeout, isBeginningEnough: true })).toEqual({ name: 'refused' })
  server.members[0]!.freeze()
  expect(await ask(address, 'ruok', { timeout: 20 })).toEqual({ name: 'none', why: 'no answer after 20 ms' })
  server.kill()
  expect(await ask(address, 'ruok', { timeout })).toMatchObject({
    name: 'none',
    why: expect.stringContaining('ECONNREFUSED'),
  })
})

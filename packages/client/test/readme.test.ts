import { readFileSync } from 'node:fs'
import { Create2Response, GetDataResponse, MultiResponse, OpCode } from '@zk/wire'
import { expect, test, vi } from 'vitest'
import { checkOptions } from '../src/zookeeper/options.ts'
import { main } from './readme-example.ts'
import { created, FakeServer, nodeData, outcome, someStat, VirtualWorld } from './support/index.ts'

const sourceOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const readme = sourceOf('../README.md')

test('README shows the example that runs here', () => {
  const [, shown] = /```ts\n([^]*?)```/.exec(readme)!
  const [ran] = sourceOf('readme-example.ts').replace('../src/index.ts', '@zk/client').split('\nexport {')
  expect(shown).toBe(ran)
})

test('README lists every option of connect, and no other', () => {
  const [, options] = /## Options\n([^]*?)\n## /.exec(readme)!
  const listed = Array.from(options!.matchAll(/^\| `(\w+)`/gm), ([, name]) => name)
  expect(new Set(listed)).toEqual(
    new Set([
      ...Object.keys(checkOptions({})),
      'signal',
      'logger',
      'tls',
      'sasl',
      'session',
      'advanced',
      'hostProvider',
      'localExpiry',
      'name',
    ]),
  )
})

test('the example of README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const world = new VirtualWorld()
  const servers = ['zk1:2181', 'zk2:2181', 'zk3:2181'].map((address) => FakeServer.listen(world, address))
  const running = outcome(main({ runtime: world }))
  await world.settle()
  const connection = await servers.find(({ address }) => address === world.dials[0]!.server)!.accept()

  connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/app/config'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('one'))
  const multi = await connection.expect(OpCode.multi)
  connection.event('NodeDataChanged', '/app/config')
  connection.reply(multi, MultiResponse, [
    { type: OpCode.create, response: { path: '/app/order-0000000000' } },
    { type: OpCode.setData, response: { stat: someStat } },
  ])
  connection.fail(await connection.expect(OpCode.setData), 'BadVersion')
  connection.reply(await connection.expect(OpCode.closeSession))
  await world.settle()

  expect(running.value).toBeUndefined()
  expect(log.mock.calls).toEqual([
    ['one'],
    ['/order-0000000000', 'NodeDataChanged'],
    [
      expect.stringMatching(
        /^setData \/config: BadVersion \(chroot \/app, server zk\d:2181, session 0x\w+\): the node was changed/,
      ),
    ],
  ])
  log.mockRestore()
})

// `JSON.stringify` of what a test holds in its hand says how it stands, and never throws at a bigint.
import { connect } from '@zk/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as testing from '../src/index.ts'
import { TestEnsemble, TestServer, VirtualWorld } from '../src/index.ts'

const ensemble = { tickTime: 100 }
let shown: Record<string, unknown> = {}
const open: AsyncDisposable[] = []

beforeAll(async () => {
  const world = new VirtualWorld({ members: 3 })
  const { ensemble: inside } = world
  const tested = await TestEnsemble.start(ensemble)
  const server = await TestServer.start(ensemble)
  open.push(tested, server)
  const zk = await world.run(() => connect(world.connectString, { runtime: world.runtime }))
  await world.run(() => zk.create('/a', 'secret'))
  const [member] = inside.members.filter(({ connections }) => connections.length > 0)
  shown = {
    TestEnsemble: tested,
    TestServer: server,
    VirtualWorld: world,
    EnsembleModel: inside,
    VirtualProcess: world.runtime,
    TestMember: member,
    TestConnection: member!.connections[0],
    TestSessions: inside.sessions,
    SessionInfo: inside.sessions.get(zk.session.id),
    TestNode: inside.nodes.get('/a'),
    FaultRule: inside.faults.drop({ session: zk.session.id }),
    History: inside.history,
  }
})

afterAll(async () => {
  for (const each of open) await each[Symbol.asyncDispose]()
})

test('every exported class has its instance here', () => {
  const classes = Object.entries(testing).flatMap(([name, value]) =>
    typeof value === 'function' && Function.prototype.toString.call(value).startsWith('class') ? [name] : [],
  )
  expect(Object.keys(shown)).toEqual(expect.arrayContaining(classes))
})

test('JSON of each shows how it stands', () => {
  for (const [name, value] of Object.entries(shown)) expect(JSON.stringify(value), name).not.toBe('{}')
  expect(JSON.parse(JSON.stringify(shown['SessionInfo']))).toMatchObject({
    id: expect.stringMatching(/^0x[0-9a-f]+$/) as string,
    member: (shown['TestMember'] as testing.TestMember).name,
  })
  expect(JSON.parse(JSON.stringify(shown['TestNode']))).toMatchObject({ stat: { czxid: '0x100000002', version: 0 } })
  expect(JSON.parse(JSON.stringify(shown['TestConnection']))).toMatchObject({ id: 1 })
})

test('JSON of a history has its lines, without the data of nodes', () => {
  const history = shown['History'] as testing.History
  const text = JSON.stringify(history)
  expect(JSON.parse(text)).toEqual(history.toString().split('\n'))
  expect(text).not.toContain('secret')
})

test('the fields of a session and of a node are as before for comparisons', () => {
  const { stat } = shown['TestNode'] as testing.TestNode
  expect(Object.keys(stat)).not.toContain('toJSON')
  expect({ ...stat }).toEqual(stat)
})

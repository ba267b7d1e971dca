// Read-only mode: one server of three is left, first in this process and then a real one; both must behave the same.
import { connect as dial, type Socket } from 'node:net'
import { connect, ConnectError, KeeperError, Lock, op, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { ConnectRequest, decode, encodeFrame, errorName, FrameDecoder, ReplyHeader } from '@zk/wire'
import { describe, expect, inject, test } from 'vitest'
import { caughtUp } from './support/clients.ts'
import { ask } from '@zk/conform/internal'
import { Ensemble, until } from '../src/ensemble/index.ts'

const TICK = 500

/** Three servers, two of which can be stopped. */
interface Ground extends AsyncDisposable {
  readonly addresses: readonly string[]
  /** The server that stays. */
  readonly left: string
  loseQuorum(): Promise<void>
  mend(): Promise<void>
}

async function inProcess(): Promise<Ground> {
  const ensemble = await TestEnsemble.start({ members: 3, tickTime: TICK, syncLimit: 4, readOnlyMode: true })
  const [left, ...others] = ensemble.members
  return {
    addresses: ensemble.members.map(({ address }) => address),
    left: left!.address,
    loseQuorum: async () => others.forEach((member) => member.kill()),
    mend: async () => {
      others.forEach((member) => member.restart())
      await ensemble.serving()
    },
    [Symbol.asyncDispose]: () => ensemble.close(),
  }
}

async function real(config = 'localSessionsEnabled=true localSessionsUpgradingEnabled=true'): Promise<Ground> {
  const environment = { ZOO_CFG_EXTRA: config, SERVER_JVMFLAGS: '-Dreadonlymode.enabled=true' }
  const ensemble = await Ensemble.start({ tickTime: TICK, environment })
  const [left, ...others] = ensemble.nodes
  return {
    addresses: ensemble.nodes.map(({ address }) => address),
    left: left!.address,
    loseQuorum: async () => void (await Promise.all(others.map((node) => node.kill()))),
    mend: async () => {
      await Promise.all(others.map((node) => node.start()))
      await ensemble.healed()
    },
    [Symbol.asyncDispose]: () => ensemble.stop(),
  }
}

const isro = (address: string) => {
  const [host, port] = address.split(':') as [string, string]
  return ask(Number(port), 'isro', { host, timeout: 1_000 })
}

/** The error code of a call, or that it succeeds. */
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'Ok',
    (error: unknown) => (KeeperError.is(error) ? error.code : String(error)),
  )

/** What happens on it, in words of the test. */
async function play(ground: Ground): Promise<unknown[]> {
  const notified: unknown[] = []
  const all = ground.addresses.join(',')
  await using before = await connect(all, { sessionTimeout: 5_000 })
  await before.create('/a', 'one')
  // Replicated to the server that stays, too.
  await using there = await connect(ground.left, { sessionTimeout: 5_000 })
  await caughtUp(there)
  notified.push(['rw', await isro(ground.left)])

  await ground.loseQuorum()
  await until('the one that is left to be read-only', async () => (await isro(ground.left)) === 'ro')
  const refused = await connect(ground.left, { connectTimeout: 2_000 }).catch((error: unknown) => error)
  notified.push(['without the option', ConnectError.is(refused)])

  await using zk = await connect(all, { readOnly: true, sessionTimeout: 5_000, connectTimeout: 20_000 })
  notified.push(['read-only', zk.session.connection?.readOnly, zk.session.connection?.server === ground.left])
  notified.push(...(await readOnlyCalls(zk)))
  const { changed } = await zk.existsAndWatch('/b')

  const { session } = zk
  const first = session.id
  const acquiring = new Lock(zk, '/locks/report').acquire()
  await ground.mend()
  const held = await acquiring
  notified.push(['read-write', zk.session.connection?.readOnly, zk.session === session, session.id === first])
  notified.push(['held', held.isHeld(), (await zk.exists(held.path))?.ephemeralOwner === session.id])
  await held.release()
  notified.push(['write', await codeOf(zk.create('/b', 'two'))], ['watch', (await changed).type])
  return notified
}

async function readOnlyCalls(zk: ZooKeeper): Promise<unknown[]> {
  return [
    ['read', new TextDecoder().decode((await zk.getData('/a')).data), (await zk.getChildren('/')).children],
    ['missing', await zk.exists('/missing')],
    ['create', await codeOf(zk.create('/b'))],
    ['setData', await codeOf(zk.setData('/a', 'two'))],
    ['delete', await codeOf(zk.delete('/a'))],
    ['multi', await codeOf(zk.multi([op.check('/a')]))],
    ['sync', await codeOf(zk.sync('/'))],
    ['detach', await codeOf(zk.detach())],
  ]
}

const expected = [
  ['rw', 'rw'],
  ['without the option', true],
  ['read-only', true, true],
  ['read', 'one', ['a', 'zookeeper']],
  ['missing', undefined],
  ['create', 'NotReadOnly'],
  ['setData', 'NotReadOnly'],
  ['delete', 'NotReadOnly'],
  ['multi', 'NotReadOnly'],
  ['sync', 'NotReadOnly'],
  ['detach', 'NotReadOnly'],
  ['read-write', false, true, false],
  ['held', true, true],
  ['write', 'Ok'],
  ['watch', 'NodeCreated'],
]

describe('ZooKeeper in read-only mode', () => {
  test('ZooKeeper reads from the remaining server of an ensemble in this process, and writes when it is whole (S21, L35)', async () => {
    await using ground = await inProcess()
    expect(await play(ground)).toEqual(expected)
  })
})

describe.skipIf(inject('ensembles') === undefined)('ZooKeeper in read-only mode, at real servers', () => {
  test(
    'ZooKeeper reads from the remaining server of a real ensemble, and writes when it is whole (S21, L35)',
    { timeout: 180_000 },
    async () => {
      await using ground = await real()
      expect(await play(ground)).toEqual(expected)
    },
  )

  test(
    'ZooKeeper gets no session of a read-only server without local sessions: a header in place of the answer (S21)',
    { timeout: 180_000 },
    async () => {
      await using ground = await real('')
      await ground.loseQuorum()
      await until('the one that is left to be read-only', async () => (await isro(ground.left)) === 'ro')
      const frame = await shakeHands(ground.left)
      expect(frame.byteLength).toBe(16)
      expect(errorName(decode(ReplyHeader, frame).err)).toBe('NotReadOnly')
      const error = await connect(ground.left, { readOnly: true, connectTimeout: 2_000 }).catch(
        (error: unknown) => error,
      )
      expect(error).toHaveProperty('message', expect.stringContaining('-119'))
    },
  )
})

/** The first frame that a server answers to a client that accepts read-only mode. */
async function shakeHands(address: string): Promise<Uint8Array> {
  const [host, port] = address.split(':') as [string, string]
  const socket: Socket = dial({ host, port: Number(port) })
  const frames = new FrameDecoder()
  const request = {
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: 5_000,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: true,
  }
  try {
    socket.write(encodeFrame((writer) => ConnectRequest.write(writer, request)))
    for await (const chunk of socket) {
      frames.push(chunk as Uint8Array)
      const frame = frames.next()
      if (frame !== undefined) return frame.slice()
    }
    throw new Error('the server closed the connection')
  } finally {
    socket.destroy()
  }
}

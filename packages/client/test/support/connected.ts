import { OpCode } from '@zk/wire'
import { connect, type ConnectOptions, type ZooKeeper } from '../../src/index.ts'
import type { FakeConnection } from './fake-connection.ts'
import { FakeServer } from './fake-server.ts'
import type { Handshake } from './frames.ts'
import { outcome } from './outcome.ts'
import type { VirtualWorld } from './virtual-world.ts'

export interface Connected {
  readonly zk: ZooKeeper
  /** The one server. */
  readonly server: FakeServer
  readonly connection: FakeConnection
}

export interface ConnectedOptions extends ConnectOptions {
  /** What the server answers to the handshake. */
  readonly handshake?: Handshake
  /** Behind the address of the server. @default none */
  readonly chroot?: string
}

/** The session timeout of clients in tests, unless the test gives another one. */
const T = 30_000

/** A client with a session at one server, `zk1:2181`, and its credentials accepted. */
export async function connected(world: VirtualWorld, options: ConnectedOptions = {}): Promise<Connected> {
  const { handshake, chroot = '', ...connectOptions } = options
  const server = FakeServer.listen(world, 'zk1:2181')
  const connecting = outcome(
    connect(`zk1:2181${chroot}`, { runtime: world, sessionTimeout: T, connectTimeout: T, ...connectOptions }),
  )
  const connection = await server.accept(handshake)
  for (const _ of connectOptions.auth ?? []) connection.reply(await connection.expect(OpCode.auth))
  await world.settle()
  return { zk: connecting.value, server, connection }
}

/** No client waits longer between two attempts. */
const LONGEST_PAUSE = 10_000

/** The server ends the session: it resets the connection, and says so in the next handshake. */
export async function expired(
  world: VirtualWorld,
  { server, connection }: Pick<Connected, 'server' | 'connection'>,
): Promise<void> {
  connection.rst()
  await world.advance(1_000)
  const second = await server.connection()
  await second.expectConnect()
  second.expire()
  second.fin()
  await world.settle()
}

/** Resets the connection; the next one of the session, its handshake answered. */
export async function reconnected(
  world: VirtualWorld,
  { server, connection }: Pick<Connected, 'server' | 'connection'>,
): Promise<FakeConnection> {
  const { length } = world.dials
  connection.rst()
  await world.settle()
  // Only as long as the client pauses: the deadlines of what waits do not come nearer than they must.
  for (let ms = 0; ms < LONGEST_PAUSE && world.dials.length === length; ms++) await world.advance(1)
  return server.accept()
}

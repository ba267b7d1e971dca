import { connect, type ConnectOptions, KeeperError, type Runtime, type ZooKeeper } from '@zk/client'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type VirtualProcess, type VirtualRuntime, VirtualWorld, type VirtualWorldOptions } from '../../src/index.ts'

const clientOf = (world: VirtualWorld, options: ConnectOptions = {}): Promise<ZooKeeper> =>
  world.run(() => connect(world.connectString, { runtime: world.runtime, ...options }))

test('a VirtualProcess is a Runtime of @zk/client', () => {
  expectTypeOf<VirtualRuntime>().toExtend<Runtime>()
  expectTypeOf<VirtualProcess>().toExtend<Runtime>()
})

describe('VirtualWorld', () => {
  /** Faults, fragments, clients at the same time. */
  async function history(seed: number): Promise<string> {
    const world = new VirtualWorld({ seed, fragmentation: 0.5, clientLatency: 20, latency: 5 })
    const other = world.addProcess({ clockRate: 1.01 })
    await world.run(async () => {
      const one = await connect(world.connectString, { runtime: world.runtime })
      const two = await connect(world.connectString, { runtime: other })
      await Promise.all(['/a', '/b', '/c'].map((path) => (path === '/b' ? two : one).create(path)))
      world.ensemble.leader!.kill()
      world.network.reset()
      await world.elapse(60_000)
      await Promise.all([one.close(), two.close()])
    })
    return String(world.ensemble.history)
  }

  test('VirtualWorld has one history for one seed, and another for another', async () => {
    const first = await history(1)
    expect(first).toContain('create2: Ok')
    expect(first.split('\n').length).toBeGreaterThan(50)
    expect(await history(1)).toBe(first)
    expect(await history(2)).not.toBe(first)
  })

  test('VirtualWorld serves from the beginning', () => {
    const world = new VirtualWorld({ members: ['a', 'b', 'c'] })
    expect(world.connectString).toBe('a:2181,b:2181,c:2181')
    expect(world.ensemble.isServing).toBe(true)
    world.ensemble.nodes.create('/a')
    expect(world.ensemble.nodes.get('/a')?.children).toEqual([])
    expect([world.now, world.runtime.wallNow()]).toEqual([0, Date.UTC(2024, 0, 1)])
  })

  test('VirtualWorld elects another leader in virtual time', async () => {
    const world = new VirtualWorld({ electionTime: 700 })
    const zk = await clientOf(world)
    const leader = world.ensemble.leader!
    leader.kill()
    await world.elapse(500)
    expect(world.ensemble.isServing).toBe(false)
    await world.elapse(1_000)
    expect(world.ensemble.leader?.name).not.toBe(leader.name)
    expect(await world.run(() => zk.create('/a'))).toMatchObject({ path: '/a' })
  })

  test.each([
    [0, 'the server closed the connection'],
    [1, 'read ECONNRESET'],
  ])('VirtualWorld with resets %d ends a connection with: %s', async (resets, message) => {
    const world = new VirtualWorld({ resets, juteMaxBuffer: 1_024 })
    const zk = await clientOf(world)
    const tooLong = zk.create('/a', new Uint8Array(2_000))
    await expect(world.run(() => tooLong)).rejects.toMatchObject({ cause: { message } })
    expect(await world.run(() => zk.exists('/a'))).toBeUndefined()
  })

  test('VirtualWorld has a configuration that an operator can change', async () => {
    const world = new VirtualWorld()
    const zk = await clientOf(world)
    world.ensemble.nodes.setData('/zookeeper/config', 'server.1=zk9:2888:3888;zk9:2181')
    const { config } = await world.run(() => zk.getConfig())
    expect(config.servers[0]!.client).toEqual({ host: 'zk9', port: 2181 })
  })

  test('VirtualWorld wakes code that waits for a fault', async () => {
    const world = new VirtualWorld({ clientLatency: 0 })
    const zk = await clientOf(world)
    const rule = world.ensemble.faults.loseReply({ op: 'create' })
    const [error] = await world.run(() => Promise.all([zk.create('/a').catch((error: unknown) => error), rule.fired]))
    expect(KeeperError.is(error, 'ConnectionLoss') && error.outcomeUnknown).toBe(true)
  })
})

describe('elapse', () => {
  test('elapse takes virtual time, inside of a run and without one', async () => {
    const world = new VirtualWorld()
    await world.elapse(0)
    expect(world.now).toBe(0)
    await world.elapse(1_500.5)
    expect(world.now).toBe(1_500.5)
    await world.run(() => world.elapse(30_000))
    expect(world.now).toBe(31_500.5)
  })

  test('elapse of several at a time resolves each at its time', async () => {
    const world = new VirtualWorld()
    const order: [number, number][] = []
    const wait = async (ms: number) => {
      await world.elapse(ms)
      order.push([ms, world.now])
    }
    await world.run(async () => {
      await Promise.all([wait(3_000), wait(10), wait(10).then(() => wait(5))])
    })
    expect(order).toEqual([
      [10, 10],
      [10, 10],
      [5, 15],
      [3_000, 3_000],
    ])
  })

  test('elapse resolves behind all that happens at its end', async () => {
    const world = new VirtualWorld()
    const { runtime } = world
    const fired: string[] = []
    const elapsed = world.elapse(10).then(() => fired.push('elapsed'))
    runtime.setTimer(10, () => {
      fired.push('timer')
      world.ensemble.nodes.create('/a')
    })
    runtime.setTimer(11, () => fired.push('later'))
    await elapsed
    expect(fired).toEqual(['timer', 'elapsed'])
    expect(world.ensemble.nodes.get('/a')).toBeDefined()
  })
})

describe('run', () => {
  test('run gives what its code gives, and takes no more time than that', async () => {
    const world = new VirtualWorld()
    expect(await world.run(() => 'done')).toBe('done')
    expect(await world.run(() => new Promise((resolve) => world.runtime.setTimer(25, () => resolve('late'))))).toBe(
      'late',
    )
    expect(world.now).toBe(25)
    await expect(world.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const throwing = () => {
      throw new Error('never')
    }
    await expect(world.run(throwing)).rejects.toThrow('never')
    expect(world.now).toBe(25)
  })

  test('run that takes too long rejects', async () => {
    const world = new VirtualWorld()
    await expect(world.run(() => new Promise(() => {}), { timeout: 5_000 })).rejects.toThrow(
      'run: not over after 5000 ms of virtual time: it waits forever, or for something outside of the virtual world',
    )
    expect(world.now).toBe(5_000)
    await expect(world.run(() => new Promise(() => {}))).rejects.toThrow(/after 3600000 ms/)
  })

  test('run that waits for a real timer rejects, and says what to call in its place', async () => {
    const world = new VirtualWorld()
    const real = (count: number) => () =>
      Promise.all(Array.from({ length: count }, () => new Promise((resolve) => setTimeout(resolve, 5))))
    await expect(world.run(real(1), { timeout: 5_000 })).rejects.toThrow(
      'run: not over after 5000 ms of virtual time: it has set a real timer (one is pending), and real time does not ' +
        'pass here. Wait with sleep(runtime, ms) of @zk/client, or with runtime.setTimer, in place of setTimeout',
    )
    await expect(world.run(real(3), { timeout: 5_000 })).rejects.toThrow('a real timer (3 are pending)')
  })

  test('run rejects with what a timer throws, and the world goes on', async () => {
    const world = new VirtualWorld()
    world.runtime.setTimer(10, () => {
      throw new Error('in a timer')
    })
    const [running, elapsing] = [world.run(() => new Promise(() => {})), world.elapse(20)]
    await expect(running).rejects.toThrow('in a timer')
    await expect(elapsing).rejects.toThrow('in a timer')
    await world.elapse(5)
    expect(world.now).toBe(15)
  })

  test.each([
    [undefined, 0],
    [8, 1],
  ])('run gives promises their turns before time passes: %s', async (turns, at) => {
    const world = new VirtualWorld({ members: 1, ...(turns !== undefined && { turns }) })
    const chain = async (depth: number): Promise<void> => (depth === 0 ? undefined : chain(depth - 1))
    for (let each = 0; each < 100; each++) world.runtime.setTimer(1, () => {})
    await world.run(async () => {
      await chain(30)
      expect(world.now).toBe(at)
    })
  })
})

describe('VirtualNetwork', () => {
  test('VirtualNetwork.cut keeps everything back until heal', async () => {
    const world = new VirtualWorld({ members: 1 })
    const zk = await clientOf(world)
    world.network.cut()
    const creating = zk.create('/a')
    await world.elapse(1_000)
    expect(world.ensemble.nodes.get('/a')).toBeUndefined()
    world.network.heal()
    expect(await world.run(() => creating)).toMatchObject({ path: '/a' })
    expect(world.now).toBeLessThan(1_010)
  })

  test.each([
    ['requests', false],
    ['replies', true],
  ] as const)('VirtualNetwork.stall keeps %s back', async (way, isCreated) => {
    const world = new VirtualWorld({ members: 1 })
    const zk = await clientOf(world)
    world.network.stall(way, { process: world.runtime, member: 'zk1' })
    let isSettled = false
    const creating = zk.create('/a').then(() => (isSettled = true))
    await world.elapse(1_000)
    expect([world.ensemble.nodes.get('/a') !== undefined, isSettled]).toEqual([isCreated, false])
    world.network.heal({ member: world.ensemble.member('zk1') })
    await world.run(() => creating)
  })

  test('VirtualNetwork is one of each process', async () => {
    const world = new VirtualWorld()
    const other = world.addProcess()
    const [cut, well] = await Promise.all([clientOf(world), clientOf(world, { runtime: other })])
    world.network.cut({ process: world.runtime })
    await world.elapse(40_000)
    expect([cut.session.connection?.server, well.session.connection !== undefined]).toEqual([undefined, true])
    expect(world.ensemble.sessions.list().map(({ id }) => id)).toEqual([well.session.id])
  })

  test('VirtualNetwork.delay makes it slow until heal', async () => {
    const world = new VirtualWorld({ members: 1, clientLatency: 0 })
    const zk = await clientOf(world)
    const time = async () => {
      const before = world.now
      await world.run(() => zk.getData('/'))
      return world.now - before
    }
    expect(await time()).toBe(0)
    world.network.delay(1_000)
    world.network.delay(200)
    const slow = [await time(), await time(), await time()]
    expect(Math.max(...slow)).toBeGreaterThan(300)
    expect(Math.max(...slow)).toBeLessThanOrEqual(2_000)
    world.network.heal()
    expect(await time()).toBe(0)
  })

  test('VirtualNetwork.reset breaks connections, and clients come back', async () => {
    const world = new VirtualWorld()
    const zk = await clientOf(world)
    const creating = world.run(() => zk.create('/a').catch((error: unknown) => error))
    await world.elapse(0)
    world.network.reset()
    expect(KeeperError.is(await creating, 'ConnectionLoss')).toBe(true)
    expect(await world.run(() => zk.getChildren('/'))).toBeDefined()
    expect(zk.session.connection).toBeDefined()
  })
})

describe('VirtualProcess', () => {
  test('VirtualProcess has clocks of its own', async () => {
    const world = new VirtualWorld()
    const fast = world.addProcess({ clockRate: 1.25 })
    let fired = 0
    fast.setTimer(100, () => (fired = world.now))
    await world.elapse(1_000)
    expect([world.runtime.now(), fast.now(), fired]).toEqual([1_000, 1_250, 80])
    fast.setWallClock(-60_000)
    expect(fast.wallNow() - world.runtime.wallNow()).toBe(250 - 60_000)
    expect(fast.now()).toBe(1_250)
  })

  test('VirtualProcess.stall fires timers late', async () => {
    const world = new VirtualWorld()
    const { runtime } = world
    const fired: number[] = []
    runtime.setTimer(100, () => fired.push(runtime.now()))
    runtime.stall(5_000)
    await world.elapse(4_999)
    expect([runtime.isStalled, fired, runtime.now()]).toEqual([true, [], 4_999])
    await world.elapse(1)
    expect([runtime.isStalled, fired]).toEqual([false, [5_000]])
  })

  test('VirtualProcess.stall has timers that are due fire before what has arrived is read', async () => {
    const world = new VirtualWorld()
    const { runtime } = world
    const order: string[] = []
    const handler = { received() {}, drained() {}, lost() {} }
    runtime.dial({ host: 'zk1', port: 2181 }, { ...handler, opened: () => order.push('opened') })
    runtime.setTimer(500, () => order.push('timer'))
    runtime.stall(1_000)
    await world.elapse(1_000)
    expect(order).toEqual(['timer', 'opened'])
  })

  test('VirtualProcess that is killed while it stands still stays dead, and fires no timer', async () => {
    const world = new VirtualWorld()
    const { runtime } = world
    let fired = 0
    runtime.setTimer(500, () => fired++)
    runtime.stall(1_000)
    runtime.kill()
    await world.elapse(10_000)
    expect([runtime.isKilled, fired]).toEqual([true, 0])
  })

  test('VirtualProcess.stall costs a session its life', async () => {
    const world = new VirtualWorld()
    const zk = await clientOf(world, { sessionTimeout: 6_000 })
    const { session } = zk
    world.runtime.stall(20_000)
    await world.elapse(30_000)
    expect(session.signal.reason).toMatchObject({ code: 'SessionExpired' })
  })

  test.each([
    ['process', 1],
    ['machine', 2],
  ] as const)('VirtualProcess.kill of a %s', async (what, connections) => {
    const world = new VirtualWorld({ members: 1 })
    const [process, other] = [world.addProcess(), world.addProcess()]
    await clientOf(world, { runtime: process })
    await clientOf(world, { runtime: other })
    const { timers } = process
    expect(timers).toBeGreaterThan(0)
    process.kill(what)
    expect([process.isKilled, other.isKilled]).toEqual([true, false])
    await world.elapse(1_000)
    expect(world.ensemble.member('zk1').connections).toHaveLength(connections)
    await world.elapse(60_000)
    expect(world.ensemble.sessions.list()).toHaveLength(1)
  })

  test('VirtualProcess.dial refuses TLS, and ports where nothing listens', async () => {
    const world = new VirtualWorld()
    const handler = { opened() {}, received() {}, drained() {}, lost() {} }
    expect(() => world.runtime.dial({ host: 'zk1', port: 2181, tls: {} }, handler)).toThrow(/no TLS/)
    const lost = new Promise((resolve) =>
      world.runtime.dial({ host: 'zk1', port: 2182 }, { ...handler, lost: resolve }),
    )
    expect(String(await world.run(() => lost))).toMatch(/ECONNREFUSED/)
  })
})

describe('VirtualNames', () => {
  const look = (world: VirtualWorld, host: string) =>
    world.run(
      () =>
        new Promise((resolve) =>
          world.runtime.resolve!(host, { found: resolve, failed: (error) => resolve(error.message) }),
        ),
    )

  test('VirtualNames are those of members and those that are given', async () => {
    const world = new VirtualWorld({ names: { 'zk.example': ['zk2', 'zk3'] } })
    expect(await look(world, 'zk1')).toEqual(['zk1'])
    expect(await look(world, 'zk.example')).toEqual(['zk2', 'zk3'])
    expect(await look(world, 'zk4')).toMatch(/ENOTFOUND zk4/)
    const zk = await world.run(() => connect('zk.example:2181', { runtime: world.runtime }))
    expect(zk.session.connection?.server).toMatch(/^zk/)
  })

  test('VirtualNames fail, are slow and point elsewhere until that is undone', async () => {
    const world = new VirtualWorld({ clientLatency: 0 })
    const undo = [
      world.names.redirect(world.runtime, 'zk1', ['zk2']),
      world.names.slow(world.runtime, 500),
      world.names.fail(world.runtime),
    ]
    expect(await look(world, 'zk1')).toMatch(/EAI_AGAIN/)
    expect(world.now).toBe(500)
    undo.pop()!()
    expect(await look(world, 'zk1')).toEqual(['zk2'])
    for (const each of undo) each()
    expect(await look(world, 'zk1')).toEqual(['zk1'])
    expect(world.now).toBe(1_000)
  })

  test('VirtualNames that are made right twice stay as they are', async () => {
    const world = new VirtualWorld({ clientLatency: 0 })
    const { names, runtime } = world
    const undo = [names.fail(runtime), names.slow(runtime, 500), names.redirect(runtime, 'zk1', ['zk2'])]
    for (const each of undo) each()
    const later = [names.redirect(runtime, 'zk1', ['zk3']), names.slow(runtime, 300)]
    for (const each of undo) each()
    expect(await look(world, 'zk1')).toEqual(['zk3'])
    expect(world.now).toBe(300)
    const failing = names.fail(runtime)
    undo[0]!()
    expect(await look(world, 'zk1')).toMatch(/EAI_AGAIN/)
    for (const each of [...later, failing]) each()
    expect(await look(world, 'zk1')).toEqual(['zk1'])
  })
})

describe('Misuse is refused', () => {
  test.each<[VirtualWorldOptions, RegExp]>([
    [{ members: 0 }, /members must be an integer from 1 to 99, not 0/],
    [{ members: ['a b'] }, /members: "a b" cannot be the name of a host/],
    [{ seeds: 1 } as VirtualWorldOptions, /a virtual world: unknown option seeds; known are members, .*, seed, /],
    [{ seed: -1 }, /seed must be an integer from 0/],
    [{ seed: 0.5 }, /seed must be an integer/],
    [{ clientLatency: -1 }, /clientLatency must be a number of ms, 0 or more, not -1/],
    [{ clientLatency: Infinity }, /clientLatency must be a number of ms/],
    [{ fragmentation: 1.5 }, /fragmentation must be a number from 0 to 1, not 1.5/],
    [{ resets: -0.1 }, /resets must be a number from 0 to 1, not -0.1/],
    [{ electionTime: -1 }, /electionTime must be a number of ms/],
    [{ turns: 0 }, /turns must be an integer from 1/],
    [{ names: { zk: [] } }, /names.zk must be a list of members: of zk1, zk2, zk3/],
    [{ names: { zk: ['zk9'] } }, /names.zk must be a list of members/],
    [{ names: 'zk' as unknown as Record<string, string[]> }, /names must be an object, not "zk"/],
  ])('of new VirtualWorld(%o)', (options, message) => {
    expect(() => new VirtualWorld(options)).toThrow(message)
  })

  test.each<[string, (world: VirtualWorld) => unknown, RegExp]>([
    ['elapse backwards', (world) => world.elapse(-1), /duration must be a number of ms, 0 or more, not -1/],
    ['elapse for ever', (world) => world.elapse(Infinity), /duration must be a number of ms/],
    ['run with a timeout below 0', (world) => world.run(() => {}, { timeout: -1 }), /timeout must be a number of ms/],
    ['run with other options', (world) => world.run(() => {}, { time: 1 } as object), /run: unknown option time/],
    [
      'a clock that stands',
      (world) => world.addProcess({ clockRate: 0 }),
      /clockRate must be a number above 0, .*not 0/,
    ],
    ['a clock of no rate', (world) => world.addProcess({ clockRate: NaN }), /clockRate must be a number above 0/],
    [
      'another option of a process',
      (world) => world.addProcess({ rate: 1 } as object),
      /a process: unknown option rate/,
    ],
    ['stall backwards', (world) => world.runtime.stall(-1), /duration must be a number of ms/],
    [
      'kill of something else',
      (world) => world.runtime.kill('thread' as 'process'),
      /'process' or 'machine', not "thread"/,
    ],
    ['a wall clock without a time', (world) => world.runtime.setWallClock(NaN), /by must be a number of ms, not NaN/],
    ['cut of no member', (world) => world.network.cut({ member: 'zk9' }), /there is no member "zk9"/],
    [
      'cut of a process elsewhere',
      (world) => world.network.cut({ process: new VirtualWorld().runtime }),
      /process must be one of this world/,
    ],
    ['cut of something else', (world) => world.network.cut({ client: 1 } as object), /a route: unknown option client/],
    [
      'stall of no way',
      (world) => world.network.stall('up' as 'requests'),
      /must be 'requests' or 'replies', not "up"/,
    ],
    ['delay below 0', (world) => world.network.delay(-5), /latency must be a number of ms/],
    [
      'names of a process elsewhere',
      (world) => world.names.fail(new VirtualWorld().runtime),
      /process must be one of this/,
    ],
    ['names that are slow by less', (world) => world.names.slow(world.runtime, -5), /by must be a number of ms/],
    [
      'names whose address is no list',
      (world) => world.names.redirect(world.runtime, 'zk1', 'zk2' as never),
      /addresses must be a list/,
    ],
  ])('of %s', async (_, misuse, message) => {
    const world = new VirtualWorld()
    await expect((async () => misuse(world))()).rejects.toThrow(message)
    expect(world.now).toBe(0)
  })
})

test('VirtualProcess does not fire a timer that came due while it stood still and was canceled at the wake-up', async () => {
  const world = new VirtualWorld({ members: 1 })
  const { runtime } = world
  const fired: string[] = []
  const cancel = runtime.setTimer(20, () => void fired.push('canceled'))
  runtime.setTimer(10, () => {
    fired.push('first')
    cancel()
  })
  runtime.stall(100)
  await world.elapse(200)
  expect([fired, runtime.timers]).toEqual([['first'], 0])
})

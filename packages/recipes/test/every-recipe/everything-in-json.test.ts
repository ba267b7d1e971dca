// Everything public goes through JSON, and through the copies that test runners and workers make.
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import * as client from '@zk/client'
import { beforeAll, describe, expect, test } from 'vitest'
import * as recipes from '../../src/index.ts'
import { Lock, LostError, type WaitTimeoutError, RecipeError } from '../../src/index.ts'
import { type CallName, calls, everyRecipe, type Wait, waits } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'

/** The names that the main entry of a package exports, types included. */
function exportsOf(name: 'client' | 'recipes'): string[] {
  const index = readFileSync(new URL(`../../../${name}/src/index.ts`, import.meta.url), 'utf8')
  const lists = Array.from(index.matchAll(/export (?:type )?\{([^}]*)\}/g), ([, list = '']) => list)
  return lists.flatMap((list) => list.split(',').map((each) => each.trim().replace('type ', ''))).filter(Boolean)
}

/** What programs give, and what is no object: functions, names, numbers. */
const notShown = new Set(
  (
    'ACL Acquirable AuthInfo connect ConnectionHandler CountOption CreateMode CREATOR_ALL_ACL Data deleteRecursive ' +
    'DialTarget digestMd5 fencingText formatACL formatDetachedSession formatSessionId generateDigest HeldWhile ' +
    'HoldListeners HostProvider InstanceDetails isTransient KeeperErrorCode LogFunction Logger ' +
    'LogLevel LookupHandler LostErrorCode MultiLockPath NewInstance ' +
    'op OPEN_ACL_UNSAFE parseACL parseDetachedSession Perms READ_ACL_UNSAFE RecipeErrorCode RecipeErrorWith RemovableWatches ' +
    'Runtime RuntimeConnection SaslExchange SaslMechanism ServerAddress ServiceType ' +
    'SessionCredentials sleep systemRuntime TlsSource TryRunResult uriOf validatePath WaitTimeoutErrorCode WaitTimeoutErrorWith walk'
  ).split(' '),
)

/** What each exported type shows; of a union, one of each kind. */
const shown: Record<string, unknown> = {}
/** Objects that live on: JSON says how they stand, and nobody copies them. Results of reads with a watch are among them. */
const live = new Set([
  ...Object.keys(everyRecipe),
  ...(
    'BarrierEntry Connection Held Membership MultiHeld OpenMirror ' +
    'WatchIterator Op ReadOp Registration SemaphoreHeld Session Watched WriteHeld ZooKeeper'
  ).split(' '),
])
/** They have no state of their own to show. */
const iterators = ['WatchIterator']
/** Made for every read or event: their `toJSON` is that of their class. */
const ofClasses = (
  'Children Created DetachedSession Member MirroredNode MirroredStat MirrorChange Added Changed Removed ' +
  'MultiResults NodeACL NodeData NodeEvent ReadResult ReadResults Stat WalkedNode'
).split(' ')

describe('Everything public', () => {
  beforeAll(async () => {
    const scene = new Scene({ release: '3.9', members: 3 })
    /** Time goes on until it is settled. */
    const settled = async <T>(promise: Promise<T>) => {
      const done = outcome(promise)
      for (let ms = 0; done.status === 'pending'; ms += 100) await scene.world.advance(ms === 0 ? 0 : 100)
      return done
    }
    const done = async <T>(promise: Promise<T>): Promise<T> => (await settled(promise)).value
    const rejection = async (promise: Promise<unknown>): Promise<Error> => (await settled(promise)).error as Error
    const messages: Record<string, unknown> = {}
    for (const name of ['zk:session', 'zk:connection', 'zk:watch', 'zk:acquired', 'zk:lost', 'zk:member', 'zk:frame'])
      subscribe(name, (message) => (messages[name] = message))
    let request: unknown
    subscribe('tracing:zk:request:asyncEnd', (message) => (request = message))
    let acquisition: unknown
    subscribe('tracing:zk:acquire:asyncEnd', (message) => (acquisition = message))
    const connecting = [0, 1].map(() =>
      recipes.connect(scene.connectString, { runtime: scene.world, advanced: { traceFrames: true } }),
    )
    const [zk, other] = (await done(Promise.all(connecting))) as [client.ZooKeeper, client.ZooKeeper]

    const reading = await done(zk.getDataAndWatch('/'))
    const events = await done(zk.watch('/a', { recursive: true }))
    const childWatch = await done(zk.getChildrenAndWatch('/'))
    const created = await done(zk.create('/a', 'x'))
    const event = (await done(events.next())).value
    shown['NodeEvent'] = [event, await done(childWatch.changed)]
    const removing = await done(zk.getDataAndWatch('/a'))
    await done(removing.unwatch())
    const node = await done(zk.getData('/a'))
    const reads = await done(zk.multiRead([recipes.op.getData('/a'), recipes.op.getData('/none')]))
    const exists = await rejection(zk.create('/a'))
    Object.assign(shown, {
      ZooKeeper: zk,
      Session: zk.session,
      Connection: zk.session.connection,
      ClientStats: zk.stats(),
      ClientState: zk.state,
      Watched: reading,
      WatchIterator: events,
      Created: created,
      Stat: node.stat,
      NodeData: node,
      Children: await done(zk.getChildren('/')),
      MultiResults: await done(zk.multi([recipes.op.setData('/a', 'y'), recipes.op.check('/a')])),
      ReadResults: reads,
      ReadResult: reads[1],
      Op: recipes.op.setData('/a', 'y'),
      ReadOp: recipes.op.getData('/a'),
      KeeperError: exists,
      WatchedEvent: await done(removing.changed),
      PersistentWatchEvent: event,
      Gap: { type: 'Gap', path: '/', cause: 'reconnected' },
      NodeACL: await done(zk.getACL('/')),
      WalkedNode: (await done(client.walk(zk, '/a').next())).value,
      ProtocolError: new client.ProtocolError('broken', { field: ['a'] }),
    })
    const { config } = await done(zk.getConfig())
    Object.assign(shown, {
      EnsembleConfig: config,
    })

    const lock = new Lock(zk, PATH, { label: 'me', reentrant: true })
    const held = await done(lock.acquire())
    const lockTimeout = (await rejection(new Lock(other, PATH).acquire({ timeout: 200 }))) as WaitTimeoutError
    const contenders = await done(lock.contenders())
    const shared = new recipes.SharedLock(zk, '/shared')
    const write = await done(shared.write.acquire())
    const semaphore = new recipes.Semaphore(zk, '/sem', { permits: 1 })
    const permit = await done(semaphore.acquire())
    const multiLock = new recipes.MultiLock(zk, ['/m1', '/m2'])
    const multi = await done(multiLock.acquire())
    const election = new recipes.LeaderElection(zk, '/election', { label: 'd' })
    await done(election.campaign())
    const group = new recipes.Group(zk, '/group')
    const member = await done(group.join({ name: 'n', data: 'd' }))
    const taken = (await rejection(
      new recipes.Group(other, '/group').join({ name: 'n', timeout: 200 }),
    )) as recipes.WaitTimeoutError
    const discovery = new recipes.ServiceDiscovery(zk, '/services')
    const registration = await done(discovery.register({ name: 's', port: 1 }))
    const doubleBarrier = new recipes.DoubleBarrier(zk, '/double', { size: 1 })
    const mirror = await done(new recipes.Mirror(zk, '/a').open())
    const changes = mirror.watchChanges()
    const added = (await done(changes.next())).value as Extract<recipes.MirrorChange, { type: 'Added' }>
    Object.assign(shown, {
      Lock: lock,
      Held: held,
      WaitTimeoutError: [lockTimeout, taken],
      Blocker: lockTimeout.blocker,
      ContenderInfo: contenders,
      QueuePlace: { position: 1, ahead: [PATH] },
      SharedLock: shared,
      WriteHeld: write,
      Semaphore: semaphore,
      SemaphoreHeld: permit,
      HolderInfo: await done(semaphore.holders()),
      RecipeError: [
        new RecipeError('WouldDeadlock', PATH, 'never'),
        await rejection(new recipes.Semaphore(other, '/sem', { permits: 2 }).acquire({ timeout: 200 })),
        await rejection(new recipes.Mirror(zk, '/', { maxNodes: 1 }).open()),
      ],
      MultiLock: multiLock,
      MultiHeld: multi,
      LeaderElection: election,
      Group: group,
      Membership: member,
      Member: await done(group.members()),
      ServiceDiscovery: discovery,
      Registration: registration,
      ServiceInstance: await done(discovery.instances('s')),
      UnreadableInstance: { path: '/services/s/x', error: exists },
      DoubleBarrier: doubleBarrier,
      BarrierEntry: await done(doubleBarrier.enter()),
      OpenMirror: mirror,
      MirrorChange: added,
      Added: added,
      Changed: { ...added, type: 'Changed', old: added.node },
      Removed: { type: 'Removed', path: '/a', old: added.node },
      Ready: { type: 'Ready' },
      MirroredNode: added.node,
      MirroredStat: mirror.get('/a')!.stat,
      RequestMessage: request,
    })
    const ran = await done(recipes.once(zk, '/once', { slot: 'a' }, () => 1))
    const skipped = await done(recipes.once(zk, '/once', { slot: 'a' }, () => 1))
    Object.assign(shown, { OnceResult: [ran, skipped], OnceRun: 'run' in ran ? ran.run : undefined })
    // What is not yet shown in a state that says more.
    for (const [name, { make }] of Object.entries(everyRecipe))
      shown[name] ??= await done(Promise.resolve(make(recipes, zk)))
    for (const { call, error, take } of waits) shown[`${error} of ${call}`] = await errorOfWait(call, take)
    const states = [member.state, registration.state]
    await done(zk.delete(held.path))
    await done(other.close())
    await done(member.release())
    const detached = await done(zk.detach())
    const failed = await rejection(recipes.connect('zk9:2181', { runtime: scene.world, connectTimeout: 100 }))
    const { servers } = failed as client.ConnectError
    // As Node's error of a certificate for another name.
    const circle = Object.assign(new Error('certificate'), { cert: { raw: 1n, issuerCertificate: {} } })
    circle.cert.issuerCertificate = circle.cert
    Object.assign(shown, {
      DetachedSession: detached,
      ZkError: failed,
      ConnectError: new client.ConnectError([...servers, { server: 'zk8:2182', attempts: 1, error: circle }], 5),
      LostError: [new LostError('Released', PATH, 'over', { result: 5n, cause: exists }), member.signal.reason],
      MembershipState: [...states, member.state],
      ClientMessages: Object.values(messages),
      AcquireMessage: acquisition,
      RecipeMessages: [messages['zk:acquired'], messages['zk:lost']],
      GroupMessages: messages['zk:member'],
      FinalState: await zk.closed,
    })
  })

  const names = [...new Set([...exportsOf('client'), ...exportsOf('recipes')])].filter(
    (name) => !name.endsWith('Options') && !notShown.has(name),
  )

  test.each(names)('%s goes through JSON, and through the copies that test runners make', (name) => {
    expect(shown[name]).toBeDefined()
    for (const value of [shown[name]].flat()) {
      expect(() => JSON.stringify({ value })).not.toThrow()
      if (!iterators.includes(name)) expect(JSON.stringify(value)).not.toBe('{}')
      if (live.has(name)) continue
      expect(() => structuredClone(value)).not.toThrow()
      if (!ofClasses.includes(name)) expect(() => JSON.stringify(withoutPrototypes(value))).not.toThrow()
      if (value instanceof Error) expect(() => JSON.stringify(Object.assign({}, value))).not.toThrow()
    }
  })
})

async function errorOfWait(call: CallName, take: Wait['take']): Promise<unknown> {
  const scene = new Scene()
  const [zk, other] = (await scene.clients(2)) as [client.ZooKeeper, client.ZooKeeper]
  await scene.done(take(other))
  return (await scene.start(calls[call](zk, { timeout: 0 }))).error
}

/** The copy that Jest 29 makes of what a test has thrown, before it goes to the parent process as JSON. */
function withoutPrototypes(value: unknown, seen = new Map<unknown, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  const copy: object = Array.isArray(value) ? [] : {}
  seen.set(value, copy)
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (Array.isArray(value) && key === 'length') continue
    const copied = { ...descriptor, value: withoutPrototypes(descriptor.value, seen), configurable: true }
    Object.defineProperty(copy, key, descriptor.get === undefined ? copied : descriptor)
  }
  return copy
}

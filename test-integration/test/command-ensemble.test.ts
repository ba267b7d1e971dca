// The commands of `zk` for servers and for locks that others hold, as processes.
import { type ACL, Perms } from '@zk/client'
import { type AcquireOptions, LeaderElection, Lock, Semaphore, SharedLock, type ZooKeeper } from '@zk/recipes'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Ensemble, until } from '../src/ensemble/index.ts'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startInTerminal, startZk, ZK, type ZkCommand } from './support/zk-command.ts'

const READ_ONLY: readonly ACL[] = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

interface Place {
  readonly chroot: string
  readonly zk: ZooKeeper
  readonly start: (...words: string[]) => ZkCommand
  /** The document that it prints. */
  readonly json: (...words: string[]) => Promise<Record<string, unknown>>
}

async function newPlace(ensemble: Ensemble): Promise<Place> {
  const chroot = await newChroot(ensemble)
  const zk = await newClient(ensemble, { chroot })
  const start = (...words: string[]): ZkCommand => startZk(ensemble.nodes, chroot, words)
  const json = async (...words: string[]): Promise<Record<string, unknown>> => {
    const run = start(...words, '--json')
    expect(await run.ended, run.output()).toBe(0)
    return JSON.parse(run.data()) as Record<string, unknown>
  }
  return { chroot, zk, start, json }
}

/** Resolves when the call stands in line. The call ends when the test is over. */
async function waitInLine(acquire: (options: AcquireOptions) => Promise<unknown>): Promise<void> {
  const over = new AbortController()
  let settled: Promise<unknown> = Promise.resolve()
  onTestFinished(async () => {
    over.abort()
    await settled
  })
  await new Promise<void>((resolve, reject) => {
    settled = acquire({ signal: over.signal, onQueued: () => resolve() }).catch(reject)
  })
}

async function untilDataOf(run: ZkCommand, what: string, isThere: (data: string) => boolean): Promise<void> {
  await until(what, () => Promise.resolve(isThere(run.data())))
}

const linesOf = (run: ZkCommand): string[] => run.data().split('\n').slice(0, -1)

describeEnsemble('zk', (ensemble) => {
  describe('health', () => {
    test('zk health checks each server, and leaves no node but the container of its path', async () => {
      const { zk, json } = await newPlace(ensemble)
      const { ok, servers } = await json('health', '--each', '--path', '/probes/mine')
      expect(ok).toBe(true)
      const results = ['session', 'read', 'write', 'watch'].map((check) => ({ check, result: 'ok' }))
      expect(servers).toMatchObject(
        ensemble.nodes.map(({ address }) => ({ server: expect.stringContaining(address), checks: results })),
      )
      // Servers delete only empty containers.
      await until('servers to delete /probes', async () => (await zk.exists('/probes')) === undefined)
    })

    test('zk health says which check has failed, and gives its exit code', async () => {
      const { zk, chroot, start } = await newPlace(ensemble)
      await zk.create('/closed', '', { acl: READ_ONLY })
      const refused = start('health', '--path', '/closed')
      expect(await refused.ended).toBe(77)
      expect(refused.data()).toMatch(/ read +ok .*\n +write +failed .*NoAuth.*\n +watch +skipped/)
      const elsewhere = startZk(ensemble.nodes, `${chroot}/nowhere`, ['health', '--read-only'])
      expect(await elsewhere.ended).toBe(66)
      const nobody = startZk([{ address: '127.0.0.1:1' }], '', ['health', '--timeout', '300ms'])
      expect(await nobody.ended).toBe(69)
    })
  })

  test('zk config and zk words tell the members, and what servers answer', async () => {
    const { json, start } = await newPlace(ensemble)
    const { servers } = await json('config')
    expect(servers).toMatchObject(ensemble.nodes.map((_, index) => ({ id: index + 1, role: 'participant' })))
    const { answers } = (await json('words', 'ruok', 'mntr')) as { answers: { word: string; values?: object }[] }
    expect(answers.filter(({ word }) => word === 'ruok')).toMatchObject(ensemble.nodes.map(() => ({ text: 'imok' })))
    expect(answers.filter(({ values }) => values !== undefined)).toMatchObject(
      ensemble.nodes.map(() => ({ word: 'mntr', values: { zk_znode_count: expect.any(Number) } })),
    )
    const allowed = (await json('words')) as { servers: { answered: string[] }[] }
    for (const { answered } of allowed.servers) expect(answered).toEqual(expect.arrayContaining(['ruok', 'mntr']))
    expect(await start('words', 'RUOK').ended).toBe(64)
  })

  test('zk bench measures reads, writes and locks, and leaves no node, also after SIGINT', async () => {
    const { zk, json, start } = await newPlace(ensemble)
    // Servers do not delete it while it is empty.
    await zk.create('/zk-bench')
    const { results } = (await json('bench', '--number', '40', '--in-flight', '4')) as { results: object[] }
    expect(results).toMatchObject(['read', 'write', 'lock'].map((operation) => ({ operation, count: 40 })))
    expect((await zk.getChildren('/zk-bench')).children).toEqual([])
    const run = start('bench', 'lock', '--number', '1000000')
    await until('a run', async () => (await zk.getChildren('/zk-bench')).children.length > 0)
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
    expect((await zk.getChildren('/zk-bench')).children).toEqual([])
  })

  test('zk locks shows every kind of lock below a path, and behind whom each contender waits', async () => {
    const { zk, start } = await newPlace(ensemble)
    await using lock = await new Lock(zk, '/a/lock', { label: 'l1' }).acquire()
    await waitInLine((options) => new Lock(zk, '/a/lock', { label: 'l2' }).acquire(options))
    await using reader = await new SharedLock(zk, '/a/shared', { label: 'r1' }).read.acquire()
    await waitInLine((options) => new SharedLock(zk, '/a/shared', { label: 'w1' }).write.acquire(options))
    await waitInLine((options) => new SharedLock(zk, '/a/shared', { label: 'r2' }).read.acquire(options))
    await using permit = await new Semaphore(zk, '/a/sem', { label: 's1', permits: 1 }).acquire()
    await waitInLine((options) => new Semaphore(zk, '/a/sem', { label: 's2', permits: 1 }).acquire(options))
    await using alone = await new Semaphore(zk, '/a/sem-alone', { label: 's3', permits: 1 }).acquire()
    await until('servers to delete its locks', async () => (await zk.exists('/a/sem-alone/locks')) === undefined)
    await using term = await new LeaderElection(zk, '/a/leader', { label: 'e1' }).campaign()
    const kazoo = '64a1d9f23c074f0e9d430b1a7c55e2f8'
    await zk.create(`/a/kazoo/${kazoo}__lock__0000000001`, 'k1', { mode: 'EPHEMERAL', parents: true })
    await zk.create(`/a/kazoo/${kazoo}__rlock__0000000002`, 'k2', { mode: 'EPHEMERAL' })

    const run = start('locks', '/a', '--recursive', '--address', '--json')
    expect(await run.ended, run.output()).toBe(0)
    type Shown = {
      path: string
      label: string
      kind: string
      behind: string | null
      isGranted: boolean
      address: string
    }
    const locks = linesOf(run).map((line) => JSON.parse(line) as { path: string; contenders: Shown[] })
    const shown = locks.map(({ path, contenders }) => {
      const labelOf = (node: string | null): string => contenders.find((each) => each.path === node)?.label ?? 'nobody'
      const lines = contenders.map(({ label, kind, behind, isGranted }) =>
        isGranted ? `${label} holds ${kind}` : `${label} waits behind ${labelOf(behind)}`,
      )
      return [path, ...lines]
    })
    expect(shown).toEqual([
      ['/a/kazoo', 'k1 holds write', 'k2 waits behind k1'],
      ['/a/leader', 'e1 holds latch'],
      ['/a/lock', 'l1 holds lock', 'l2 waits behind l1'],
      ['/a/sem', 's1 holds semaphore', 's2 waits behind nobody'],
      ['/a/sem-alone', 's3 holds semaphore'],
      ['/a/shared', 'r1 holds read', 'w1 waits behind r1', 'r2 waits behind w1'],
    ])
    const addresses = new Set(locks.flatMap(({ contenders }) => contenders.map(({ address }) => address)))
    expect([...addresses]).toEqual([expect.stringMatching(/^[\d.]+:\d+$/)])
    const single = start('locks', '/a/sem-alone')
    expect(await single.ended).toBe(0)
    expect(single.data()).toContain('s3')
    for (const held of [lock, reader, permit, alone, term]) expect(held.isHeld()).toBe(true)
  })

  test('zk locks --watch prints a line at each change, and --break ends a hold', async () => {
    const { zk, start } = await newPlace(ensemble)
    await zk.create('/plain/node', '', { parents: true })
    const run = start('locks', '/locks', '--recursive', '--watch')
    const shows = (text: string) => untilDataOf(run, text, (data) => data.includes(text))
    const held = await new Lock(zk, '/locks/b', { label: 'first' }).acquire()
    await shows('/locks/b  held by first\n')
    await waitInLine((options) => new Lock(zk, '/locks/b', { label: 'second' }).acquire(options))
    await shows('/locks/b  held by first; 1 waiting\n')

    for (const [node, code] of [
      ['/plain/node', 64],
      [held.path.replace(/\d+$/, '0000000099'), 66],
    ] as const) {
      expect(await start('locks', '--break', node, '--yes').ended).toBe(code)
    }
    // There is nobody to ask.
    expect(await start('locks', '--break', held.path).ended).toBe(64)
    const broken = start('locks', '--break', held.path, '--yes', '--json')
    expect(await broken.ended, broken.output()).toBe(0)
    expect(JSON.parse(broken.data())).toMatchObject({ path: '/locks/b', broken: { label: 'first', isGranted: true } })
    expect(broken.output()).toContain('Next is second')
    await until('the loss', () => Promise.resolve(held.signal.aborted))
    await shows('/locks/b  held by second\n')
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
  })

  test('zk locks --watch draws its table again on a terminal, as far as it fits, until Ctrl-C', async () => {
    const { zk, chroot } = await newPlace(ensemble)
    await zk.create('/l')
    const run = startInTerminal(`stty rows 10 cols 100; exec ${ZK} locks /l --watch`, {
      ZK_CONNECT: ensemble.connectString + chroot,
    })
    await untilDataOf(run, 'an empty table', (data) => data.includes('nobody holds or waits'))
    const contenders = Array.from({ length: 12 }, (_, index) => {
      const name = `_c_8aebab58-aa1d-4102-ac66-f420ec8965${String(index).padStart(2, '0')}-lock-`
      return zk.create(`/l/${name}`, `\u001b[31m${index}`, { mode: 'EPHEMERAL_SEQUENTIAL' })
    })
    await Promise.all(contenders)
    await untilDataOf(run, 'a full table', (data) => data.includes('… 8 more lines'))
    const last = run.data().split('\u001b[J').at(-1)!
    expect(last.split('\r\n').length).toBeLessThanOrEqual(10)
    expect(last).toContain(String.raw`holds  \u001b[31m0`)
    run.type('\u0003')
    expect(await run.ended).toBe(130)
  })

  test('zk leader follows an election, and runs a command for each leader', async () => {
    const { zk, start } = await newPlace(ensemble)
    expect(await start('leader', '/l').ended).toBe(66)
    const lines = start('leader', '/l', '--follow')
    const runs = start('leader', '/l', '--follow', '--', 'sh', '-c', 'echo "<$ZK_LEADER_LABEL $ZK_LEADER_TOKEN>"')
    await untilDataOf(lines, 'an empty line', (data) => data === '\n')
    await untilDataOf(runs, 'a run without a leader', (data) => data === '< >\n')
    const term = await new LeaderElection(zk, '/l', { label: 'one' }).campaign()
    await untilDataOf(lines, 'the leader', (data) => data === '\none\n')
    await untilDataOf(runs, 'a run for it', (data) => data.endsWith(`<one ${term.fencingToken}>\n`))
    await waitInLine((options) => new LeaderElection(zk, '/l', { label: '' }).campaign(options))
    const once = start('leader', '/l', '--', 'sh', '-c', 'exit 7')
    expect(await once.ended).toBe(7)
    await term.release()
    await untilDataOf(lines, 'the next', (data) => /\none\n\/l\/_c_.*-latch-\d+\n$/.test(data))
    for (const run of [lines, runs]) {
      run.child.kill('SIGTERM')
      expect(await run.ended).toBe(143)
    }
  })
})

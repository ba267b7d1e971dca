// The commands of `zk` for nodes, as processes: what they print, and their exit codes.
import { Lock } from '@zk/recipes'
import { expect, test } from 'vitest'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startZk } from './support/zk-command.ts'

describeEnsemble('zk', (ensemble) => {
  test('zk creates, reads, changes and deletes nodes, and prints data alone', async () => {
    const chroot = await newChroot(ensemble)
    const steps: (readonly [words: string[], data: string, code?: number, input?: string])[] = [
      [['create', '-p', '/a/b', 'hello'], '/a/b\n'],
      [['get', '/a/b'], 'hello'],
      [['create', '/a/s-', '--mode', 'sequential'], '/a/s-0000000001\n'],
      [['ls', '/a'], 'b\ns-0000000001\n'],
      [['set', '/a/b', '-'], '', 0, 'from standard input'],
      [['get', '/a/b'], 'from standard input'],
      [['set', '/a/b', 'x', '--version', '0'], '', 70],
      [['create', '/a/line\nend'], '', 64],
      [['find', '/a'], '/a\n/a/b\n/a/s-0000000001\n'],
      [['create', '-p', '/q/', '--mode', 'sequential'], '/q/0000000000\n'],
      [['create', '/q/'], '', 64],
      [['rm', '/a'], '', 70],
      [['lock', '/l', '--', 'sh', '-c', 'echo "$ZK_LOCK_PATH"; exit 7'], '/l\n', 7],
      [['rm', '-r', '/a'], '', 64],
      [['rm', '-r', '/a', '--yes', '--json'], '{"version":1,"path":"/a","deleted":3}\n'],
      [['get', '/a'], '', 66],
      [['stat', '/a'], '', 66],
      [['get', 'a'], '', 64],
    ]
    for (const [words, data, code = 0, input] of steps) {
      const run = startZk(ensemble.nodes, chroot, words, input)
      expect([words, await run.ended, run.data()], run.output()).toEqual([words, code, data])
    }
  })

  test('zk --json prints a document with the stat, and bytes that are no text as base64', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    const { stat } = await zk.create('/n', new Uint8Array([0xff, 0x00, 0x0a]))
    const run = startZk(ensemble.nodes, chroot, ['get', '/n', '--json'])
    expect(await run.ended).toBe(0)
    expect(JSON.parse(run.data())).toEqual({
      version: 1,
      path: '/n',
      base64: '/wAK',
      stat: {
        czxid: `0x${stat.czxid.toString(16)}`,
        mzxid: `0x${stat.mzxid.toString(16)}`,
        pzxid: `0x${stat.pzxid.toString(16)}`,
        ctime: new Date(stat.ctime).toISOString(),
        ctimeMs: stat.ctime,
        mtime: new Date(stat.mtime).toISOString(),
        mtimeMs: stat.mtime,
        version: 0,
        cversion: 0,
        aversion: 0,
        ephemeralOwner: '0x0',
        dataLength: 3,
        numChildren: 0,
      },
    })
  })

  test('zk locks prints who holds and who waits', async () => {
    const chroot = await newChroot(ensemble)
    const [holder, waiter] = [await newClient(ensemble, { chroot }), await newClient(ensemble, { chroot })]
    await using held = await new Lock(holder, '/l', { label: 'first' }).acquire()
    const giveUp = new AbortController()
    let waiting = Promise.resolve()
    await new Promise<void>((onQueued) => {
      const acquiring = new Lock(waiter, '/l', { label: 'second' }).acquire({
        signal: giveUp.signal,
        onQueued: () => onQueued(),
      })
      waiting = acquiring.then(
        () => {},
        () => {},
      )
    })
    const run = startZk(ensemble.nodes, chroot, ['locks', '/l', '--json'])
    expect(await run.ended, run.output()).toBe(0)
    const { contenders } = JSON.parse(run.data())
    expect(contenders).toMatchObject([
      { label: 'first', isGranted: true, path: held.path, fencingToken: String(held.fencingToken) },
      { label: 'second', isGranted: false },
    ])
    const table = startZk(ensemble.nodes, chroot, ['locks', '/l'])
    expect(await table.ended).toBe(0)
    expect(
      table
        .data()
        .split('\n')
        .map((line) => line.split(/ +/).slice(0, 2).join(' ')),
    ).toEqual([' LABEL', 'holds first', 'waits second', ''])
    giveUp.abort()
    await waiting
  })
})

// The commands of `zk` for whole trees of nodes, transactions and watches, as processes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { op, walk, type ZooKeeper } from '@zk/client'
import { expect, onTestFinished, test } from 'vitest'
import { type Ensemble, until } from '../src/ensemble/index.ts'
import { newChroot, newClient, newProxy } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startInTerminal, startZk, ZK } from './support/zk-command.ts'

const READ_ONLY = [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]
const CREATOR = [{ perms: 31, id: { scheme: 'auth', id: '' } }]

interface Place {
  readonly chroot: string
  readonly zk: ZooKeeper
  /** Runs `zk` there. Resolves with its exit code and data. */
  readonly run: (words: readonly string[], input?: string) => Promise<readonly [code: number | string, data: string]>
  /** The value of --connect. */
  readonly connectString: string
  readonly folder: string
}

async function newPlace(ensemble: Ensemble): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'zk-trees-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const password = join(folder, 'password')
  writeFileSync(password, 'user:password')
  const chroot = await newChroot(ensemble)
  const zk = await newClient(ensemble, { chroot, auth: [{ scheme: 'digest', auth: 'user:password' }] })
  const connectString = ensemble.nodes.map(({ address }) => address).join(',') + chroot
  const run = async (words: readonly string[], input = '') => {
    const command = startZk(
      ensemble.nodes,
      chroot,
      words.map((word) => word.replace('PASSWORD', password)),
      input,
    )
    return [await command.ended, command.data()] as const
  }
  return { chroot, zk, run, connectString, folder }
}

/** /app with three nodes and a hidden one, an ephemeral one, and names that are sorted otherwise than their paths. */
async function plant(zk: ZooKeeper): Promise<void> {
  await zk.multi([
    op.create('/app', 'root'),
    op.create('/app/a'),
    op.create('/app/a/x', new Uint8Array([0xff, 0])),
    op.create('/app/a-b', 'text', { acl: READ_ONLY }),
    op.create('/app/hidden', 'secret', { acl: CREATOR }),
  ])
  await zk.create('/app/lock', 'me', { mode: 'EPHEMERAL' })
}

/** The lines of a dump without its end: a node with so many children. */
function dumpOf(root: string, children: number): string {
  const nodes = [root, ...Array.from({ length: children }, (_, n) => `${root}/n${10_000 + n}`)]
  return nodes.map((path) => `${JSON.stringify({ version: 1, path, text: 'x' })}\n`).join('')
}

const END = '{"version":1,"end":true}\n'

describeEnsemble('zk', (ensemble) => {
  test('zk tree, find and du show a tree, name what they may not read, and end with 77', async () => {
    const { zk, run } = await newPlace(ensemble)
    await plant(zk)
    const drawn = [
      '/app  4 B',
      '├── a',
      '│   └── x  2 B',
      '├── a-b  4 B',
      '├── hidden  6 B',
      '└── lock  2 B  ephemeral',
    ]
    expect(await run(['tree', '/app', '--auth-file', 'PASSWORD'])).toEqual([0, `${drawn.join('\n')}\n`])
    expect(await run(['tree', '/app'])).toEqual([77, `${drawn.toSpliced(4, 1).join('\n')}\n`])
    expect(await run(['tree', '/', '--depth', '1'])).toEqual([0, '/\n└── app  4 B  (4 children)\n'])
    expect(await run(['find', '/app'])).toEqual([77, '/app\n/app/a\n/app/a/x\n/app/a-b\n/app/lock\n'])
    const [code, data] = await run(['du', '/', '--json', '--auth-file', 'PASSWORD'])
    expect([code, JSON.parse(data)]).toEqual([
      0,
      { version: 1, path: '/', bytes: 18, nodes: 7, children: [{ path: '/app', bytes: 18, nodes: 6 }] },
    ])
    expect(await run(['find', '/none'])).toEqual([66, ''])
  })

  test('zk cp copies to another place with ACLs and without ephemeral nodes, and zk diff shows what differs', async () => {
    const from = await newPlace(ensemble)
    const to = await newPlace(ensemble)
    await plant(from.zk)
    const there = ['--to-connect', to.connectString, '--acl', '--auth-file', 'PASSWORD']
    const copied = ['/copy', '/copy/a', '/copy/a/x', '/copy/a-b', '/copy/hidden']
    const printed = copied.map((path) => `create  ${path}\n`).join('')
    expect(await from.run(['cp', '-r', '/app', '/copy', ...there, '--dry-run'])).toEqual([0, printed])
    expect(await from.run(['cp', '-r', '/app', '/copy', ...there])).toEqual([0, printed])
    expect(await from.run(['cp', '-r', '/app', '/copy', ...there])).toEqual([0, ''])
    expect(await from.run(['diff', '/app', '/copy', ...there])).toEqual([0, ''])
    // Without the right to read a node, the trees are not the same, and an ACL may not be complete.
    expect((await from.run(['diff', '/app', '/copy', '--to-connect', to.connectString]))[0]).toBe(77)

    await to.zk.setData('/copy/a/x', 'other')
    await to.zk.setACL('/copy/a', [...READ_ONLY, ...CREATOR])
    await to.zk.delete('/copy/hidden')
    await to.zk.create('/copy/more')
    expect(await from.run(['diff', '/app', '/copy', ...there])).toEqual([
      1,
      'acl        /app/a\ndata       /app/a/x\nonly in A  /app/hidden\nonly in B  /copy/more\n',
    ])
    expect((await from.run(['cp', '-r', '/app', '/copy', ...there]))[1]).toBe(
      'acl     /copy/a\ndata    /copy/a/x\ncreate  /copy/hidden\n',
    )

    const inside = [
      ['/app', '/app/a/x'],
      ['/', '/new'],
      ['/app', '/app/new/x', '--to-connect', from.connectString],
      ['/app', '/new', '--to-connect', `${from.connectString}/app/a`],
      ['/app', '/app'],
    ]
    for (const words of inside) expect(await from.run(['cp', '-r', ...words])).toEqual([64, ''])
    expect(await from.run(['cp', '-r', '/none', '/new'])).toEqual([66, ''])
    expect(await from.zk.exists('/new')).toBeUndefined()
  })

  test('zk import writes what zk export has written, only what differs, and deletes what is asked for', async () => {
    const { zk, run, folder } = await newPlace(ensemble)
    await plant(zk)
    const file = join(folder, 'dump.jsonl')
    const me = ['--auth-file', 'PASSWORD']
    const [code, dump] = await run(['export', '/app', ...me])
    expect(code).toBe(0)
    writeFileSync(file, dump)
    expect(
      dump
        .split('\n')
        .slice(0, -1)
        .map((text) => JSON.parse(text).path),
    ).toEqual(['/app', '/app/a', '/app/a/x', '/app/a-b', '/app/hidden', '/app/lock', undefined])
    expect((await run(['import', '-', '/r/copy', '--acl', ...me], dump))[0]).toBe(0)
    expect(await run(['diff', `@${file}`, '/r/copy', '--acl', ...me])).toEqual([0, ''])
    expect(await run(['import', file, '/r/copy', '--acl', '--delete', ...me])).toEqual([0, ''])

    await zk.multi([
      op.create('/r/copy/b'),
      op.create('/r/copy/b/c'),
      op.create('/r/copy/d'),
      op.setData('/r/copy', ''),
    ])
    await zk.create('/r/copy/d/lock', '', { mode: 'EPHEMERAL' })
    expect(await run(['import', file, '/r/copy', '--delete', ...me])).toEqual([
      0,
      'data    /r/copy\ndelete  /r/copy/b/c\ndelete  /r/copy/b\n',
    ])

    // A dump that has been cut off, or lacks nodes, deletes nothing.
    const [, partial] = await run(['export', '/app'])
    for (const text of [dump.slice(0, dump.indexOf('/app/hidden')), partial]) {
      writeFileSync(file, text)
      expect((await run(['import', file, '/r/copy', '--delete', ...me]))[0]).toBe(65)
    }
    expect(await zk.exists('/r/copy/d')).toBeDefined()
    expect((await run(['import', '-', '/s'], dump.split('\n', 2).join('\n')))[0]).toBe(65)
  })

  test('zk import ends well when its connection is lost again and again', async () => {
    const { zk, chroot, folder } = await newPlace(ensemble)
    const file = join(folder, 'dump.jsonl')
    writeFileSync(file, dumpOf('/many', 3_000) + END)
    const proxy = await newProxy(ensemble.nodes[0]!)
    const run = startZk([proxy], chroot, ['import', file])
    let cuts = 0
    for (const count of [200, 1_000, 2_000]) {
      await until(`${count} nodes`, async () => ((await zk.exists('/many'))?.numChildren ?? 0) >= count)
      proxy.cut()
      cuts++
    }
    expect(await run.ended, run.output()).toBe(0)
    expect([cuts, run.data().split('\n').length - 1]).toEqual([3, 3_001])
    expect((await zk.getChildren('/many')).children).toHaveLength(3_000)
  })

  test('zk import prints what it has done as it comes, and its counts when it is interrupted or its input breaks off', async () => {
    const { zk, chroot, connectString } = await newPlace(ensemble)
    const input = dumpOf('/i', 20)
    const run = startZk(ensemble.nodes, chroot, ['import', '-'], input, { hasMoreInput: true })
    await until('all lines', async () => run.data().split('\n').length - 1 === 21)
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
    expect(run.output()).toContain('not finished: 21 created, 0 changed, 0 deleted, 0 equal')
    // Its input goes on, and its output cannot be written.
    const full = startInTerminal(`${ZK} import - >/dev/full`, { ZK_CONNECT: connectString })
    full.type(dumpOf('/f', 20))
    expect(await full.ended, full.output()).toBe(74)
    const broken = startZk(ensemble.nodes, chroot, ['import', '-', '--json'], `${dumpOf('/j', 200)}{`)
    expect(await broken.ended).toBe(65)
    const lines = broken.data().trim().split('\n')
    const { summary } = JSON.parse(lines.pop()!) as { summary: object }
    expect(summary).toMatchObject({ created: lines.length, isWhole: false })
    expect((await zk.exists('/j'))?.numChildren).toBe(lines.length - 1)
  })

  test('zk import goes on when the reader of its lines goes away', async () => {
    const { zk, chroot } = await newPlace(ensemble)
    const run = startZk(ensemble.nodes, chroot, ['import', '-'], `${dumpOf('/many', 3_000)}${END}`)
    run.child.stdout!.destroy()
    expect(await run.ended, run.output()).toBe(0)
    expect((await zk.exists('/many'))?.numChildren).toBe(3_000)
  })

  test('zk cp reads only the places of the copies', async () => {
    const { zk, run } = await newPlace(ensemble)
    await zk.multi([op.create('/from'), op.create('/from/a', 'x'), op.create('/to'), op.create('/to/a', 'x')])
    await zk.create('/to/private', '', { acl: CREATOR })
    expect(await run(['cp', '-r', '/from', '/to'])).toEqual([0, ''])
    expect(await run(['cp', '-r', '/from', '/to/private/copy'])).toEqual([77, ''])
    expect(await run(['cp', '-r', '/from', '/'])).toEqual([0, 'create  /a\n'])
  })

  test('zk multi does all or nothing, and says which operation was refused', async () => {
    const { zk, run } = await newPlace(ensemble)
    const lines = (...ops: object[]) => ops.map((each) => JSON.stringify(each)).join('\n')
    const ops = lines(
      { create: { path: '/m', text: 'x' } },
      { create: { path: '/m/s-', mode: 'sequential' } },
      { set: { path: '/m', base64: 'AA==', version: 0 } },
    )
    expect(await run(['multi'], ops)).toEqual([0, 'create  /m\ncreate  /m/s-0000000000\nset     /m\n'])
    const failing = startZk(
      ensemble.nodes,
      zk.chroot,
      ['multi', '--json'],
      lines({ delete: { path: '/m/s-0000000000' } }, {}),
    )
    expect(await failing.ended).toBe(65)
    const [code, data] = await run(
      ['multi', '-', '--json'],
      `${lines({ delete: { path: '/m/s-0000000000' } }, { check: { path: '/none' } })}\n`,
    )
    expect([
      code,
      data
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text)),
    ]).toEqual([
      66,
      [
        { version: 1, index: 0, op: 'delete', path: '/m/s-0000000000', isDone: false },
        { version: 1, index: 1, op: 'check', path: '/none', isDone: false, error: 'NoNode' },
      ],
    ])
    expect((await zk.getData('/m')).data).toEqual(new Uint8Array([0]))
    expect((await zk.getChildren('/m')).children).toHaveLength(1)
  })

  test('zk acl prints and sets ACLs, also of a whole tree, and zk create takes one', async () => {
    const { zk, run } = await newPlace(ensemble)
    const me = ['--auth-file', 'PASSWORD']
    await run(['create', '/a', '--acl', 'world:anyone:rc,auth::cdrwa', ...me])
    expect(await run(['acl', '/a'])).toEqual([0, 'world:anyone:cr\ndigest:user:x:cdrwa\n'])
    expect((await run(['acl', '/a', 'world:anyone:r']))[0]).toBe(77)
    await zk.create('/a/b')
    expect(await run(['acl', '-r', '/a', 'world:anyone:cdrwa', '--yes', '--json', ...me])).toEqual([
      0,
      '{"version":1,"path":"/a","set":2}\n',
    ])
    expect(await run(['acl', '/a', '--json'])).toMatchObject([
      0,
      expect.stringContaining('"acl":["world:anyone:cdrwa"]'),
    ])
    expect((await run(['acl', '-r', '/a', 'world:anyone:r']))[0]).toBe(64)
    expect((await run(['acl', '/a', 'world:anyone:q']))[0]).toBe(64)
  })

  test('zk rm -r deletes nothing if there are more nodes than --max', async () => {
    const { zk, run } = await newPlace(ensemble)
    await zk.multi([op.create('/d'), op.create('/d/1'), op.create('/d/2')])
    expect(await run(['rm', '-r', '/d', '--yes', '--max', '2'])).toEqual([1, ''])
    expect(await zk.exists('/d/1')).toBeDefined()
    expect(await run(['rm', '-r', '/d', '--yes', '--max', '3'])).toEqual([0, ''])
    expect((await run(['rm', '-r', '/d', '--yes']))[0]).toBe(66)
    const paths: string[] = []
    for await (const { path } of walk(zk, '/')) paths.push(path)
    expect(paths).toEqual(['/'])
  })

  test('zk watch prints events and gaps, and runs a command for each, one at a time', async () => {
    const { zk, chroot, folder } = await newPlace(ensemble)
    await zk.create('/w')
    const proxy = await newProxy(ensemble.nodes[0]!)
    const log = join(folder, 'log')
    const script = `echo "$ZK_EVENT $ZK_PATH" >> ${log}; test "$ZK_EVENT" != NodeDeleted || exit 5`
    const watches = [
      startZk([proxy], chroot, ['watch', '-r', '/w', '-n', '4']),
      startZk([proxy], chroot, ['watch', '-r', '/w', '-n', '4', '--', 'sh', '-c', script]),
    ]
    for (const each of watches) await until('it to watch', async () => each.output().includes('watching /w'))
    await zk.create('/w/a')
    await zk.setData('/w/a', 'x')
    for (const count of [2, 2]) {
      await until('the events', async () => watches[0]!.data().split('\n').length > count)
      await until('the runs', async () => readFileSync(log, 'utf8').split('\n').length > count)
    }
    proxy.cut()
    await until('the gap', async () => watches[0]!.data().includes('Gap') && readFileSync(log, 'utf8').includes('Gap'))
    await zk.delete('/w/a')
    expect(await Promise.all(watches.map(({ ended }) => ended))).toEqual([0, 5])
    const events = ['NodeCreated /w/a', 'NodeDataChanged /w/a', 'Gap /w', 'NodeDeleted /w/a']
    expect(watches[0]!.data().replace(' reconnected', '')).toBe(`${events.join('\n')}\n`)
    expect(readFileSync(log, 'utf8')).toBe(`${events.join('\n')}\n`)
    expect(watches[1]!.data()).toBe('')
  })

  test('zk watch passes a signal to its command, and ends after it; zk stat --wait waits for a node', async () => {
    const { zk, chroot, run } = await newPlace(ensemble)
    const script = `trap 'echo ended; exit 0' TERM; echo started; while :; do sleep 0.1; done`
    const watching = startZk(ensemble.nodes, chroot, ['watch', '/w', '--', 'sh', '-c', script])
    await until('it to watch', async () => watching.output().includes('watching /w'))
    const waiting = startZk(ensemble.nodes, chroot, ['stat', '/w', '--wait', '1m'])
    await zk.create('/w')
    expect(await waiting.ended, waiting.output()).toBe(0)
    expect(await run(['stat', '/none', '--wait', '100ms'])).toEqual([66, ''])
    await until('the command to start', async () => watching.data().includes('started'))
    watching.child.kill('SIGTERM')
    expect(await watching.ended).toBe(128 + 15)
    expect(watching.data()).toBe('started\nended\n')
  })
})

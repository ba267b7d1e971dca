// `zk shell`, and completions of real shells, in pseudo-terminals of `script` (util-linux).
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../src/ensemble/index.ts'
import { newChroot, newClient } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { startInTerminal, startZk, type Terminal, ZK } from './support/zk-command.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'zk-shell-'))
})

afterEach(() => rm(home, { recursive: true }))

const homes = () => ({ HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: join(home, 'config') })

/** Types, and waits for what comes. */
async function type(terminal: Terminal, keys: string, expected: string | RegExp): Promise<void> {
  const before = terminal.output().length
  const said = () => withoutControls(terminal.output().slice(before))
  terminal.type(keys)
  await until(`${JSON.stringify(keys)} to be followed by ${String(expected)}`, async () =>
    typeof expected === 'string' ? said().includes(expected) : expected.test(said()),
  ).catch((error: unknown) => {
    throw new Error(`${JSON.stringify(said())} has come`, { cause: error })
  })
}

/** Without bells, colors, movements of the cursor, and what a backspace has deleted. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\x07', '').replaceAll(/.[\b]/g, '')
}

/** In CI nothing may be skipped. */
function isInstalled(shell: string): boolean {
  if (spawnSync(shell, ['-c', 'true']).status === 0) return true
  if (process.env['CI'] === 'true') throw new Error(`${shell} is not installed`)
  return false
}

describeEnsemble('zk shell', (ensemble) => {
  test('zk shell runs a script in one session, and stops at the first command that fails', async () => {
    const chroot = await newChroot(ensemble)
    const script = [
      'create -p /a/b hello # the first',
      'cd a',
      'pwd',
      'get b --json',
      String.raw`create 'two words' "it's"`,
      'ls',
      'get ./two\\ words',
      'set b -- ',
      'cd /nothing',
      'rm b',
    ]
    const run = startZk(ensemble.nodes, chroot, ['shell'], `${script.slice(0, 7).join('\n')}\nexit 5\n`)
    expect(await run.ended, run.output()).toBe(5)
    const [created, pwd, json, ...rest] = run.data().split('\n')
    expect([created, pwd, rest]).toEqual(['/a/b', '/a', ['/a/two words', 'b', 'two words', "it's"]])
    expect(JSON.parse(json!)).toMatchObject({ path: '/a/b', text: 'hello' })

    const failing = startZk(ensemble.nodes, chroot, ['shell'], ['cd a', ...script.slice(8)].join('\n'))
    expect(await failing.ended).toBe(66)
    expect(failing.output()).toContain('zk: line 2 has ended with 66: cd /nothing')
    const zk = await newClient(ensemble, { chroot })
    expect(await zk.exists('/a/b')).toBeDefined()

    for (const [line, code] of [
      ['get "/a', 64],
      ['set /a -', 64],
      ['nothing', 64],
      ['shell', 64],
      ['get /a -c 127.0.0.1:1 --timeout 100ms', 69],
    ] as const) {
      const run = startZk(ensemble.nodes, chroot, ['shell'], line)
      expect([line, await run.ended], run.output()).toEqual([line, code])
    }
  })

  test('zk shell on a terminal completes, keeps a history, survives errors and Ctrl-C, and ends at Ctrl-D', async () => {
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    await zk.create('/config/two words', 'the data', { parents: true })
    const shell = startInTerminal(`exec ${ZK} shell`, { ...homes(), ZK_CONNECT: ensemble.connectString + chroot })
    await type(shell, '', new RegExp(`127\\.0\\.0\\.1:\\d+${chroot} /> `))
    await type(shell, 'cd /con', 'cd /con')
    await type(shell, '\t', 'fig')
    await type(shell, '\r', `${chroot} /config> `)
    await type(shell, 'get t', 'get t')
    await type(shell, '\t', 'wo\\ words')
    await type(shell, '\r', 'the data')
    await type(shell, 'get nothing\r', 'NoNode')
    await type(shell, 'half a line', 'half a line')
    await type(shell, '\x03', '/config> ')
    await type(shell, 'watch two\\ words\r', 'watching /config/two words')
    await type(shell, '\x03', new RegExp(`^[^]*127\\.0\\.0\\.1:\\d+${chroot} /config> `))
    await type(shell, 'locks --wa', '--wa')
    await type(shell, '\x15', '/config> ')
    // Lines that are pasted together.
    await type(shell, 'pwd\rls\r', /\/config\r\n[^]*two words\r\n/)
    await type(shell, ' pwd\r', '/config\r\n')
    shell.type('\x04')
    expect(await shell.ended, shell.output()).toBe(0)
    const history = await readFile(join(home, 'state/zk/history'), 'utf8')
    expect(history).toBe('cd /config\nget two\\ words\nget nothing\nwatch two\\ words\npwd\nls\n')
  })

  test('zk shell says that it is connected again, and Ctrl-C ends a command that waits', async () => {
    const chroot = await newChroot(ensemble)
    const [server] = await ensemble.followers()
    const shell = startInTerminal(`exec ${ZK} shell --session-timeout 6s`, {
      ...homes(),
      // The history cannot be written.
      XDG_STATE_HOME: '/dev/null',
      ZK_CONNECT: server!.address + chroot,
    })
    await type(shell, '', '/> ')
    await type(shell, 'pwd\r', 'the history is not kept')
    await server!.pause()
    await until('the prompt to say so', async () => /connection is lost[^]*\(disconnected\)/.test(shell.output()))
    await type(shell, 'get /\r', 'get /\r\r\n')
    await type(shell, '\x03', /interrupted[^]*\(no session\)/)
    await ensemble.mend()
    await type(shell, 'stat /\r', /czxid[^]*127\.0\.0\.1:\d+[^]* \/> /)
    shell.type('exit 3\r')
    expect(await shell.ended, shell.output()).toBe(3)
  })

  test.for([
    { shell: 'bash', options: '--norc --noprofile -i', prepare: '' },
    { shell: 'zsh', options: '-f -i', prepare: 'autoload -U compinit; compinit -D' },
  ])('zk completion completes in $shell', async ({ shell, options, prepare }, { skip }) => {
    if (!isInstalled(shell)) return skip()
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    for (const name of ["it's $x", 'a:b', 'a:c']) await zk.create(`/config/${name}`, '', { parents: true })
    const terminal = startInTerminal(`exec ${shell} ${options}`, {
      ...homes(),
      ZK_CONNECT: ensemble.connectString + chroot,
      PS1: 'ready> ',
    })
    await writeFile(join(home, 'some-file'), '')
    await writeFile(join(home, 'prepare'), `${prepare}\nzk() { ${ZK} "$@"; }\neval "$(zk completion ${shell})"\n`)
    await type(terminal, `cd ${home}; . ./prepare\r`, /ready> $/)
    await type(terminal, 'zk profile add production -c zk1:2181\r', /ready> $/)
    const cases: [keys: string, completed: string][] = [
      ['zk prof', 'ile '],
      ['zk create /a --mode=ttl-s', 'equential '],
      ['zk get --j', 'son '],
      ['zk get --tls-ca some-', 'file '],
      ['zk get --profile p', 'roduction '],
      ['zk get /con', 'fig'],
      ['zk get /config/i', String.raw`t\'s\ \$x`],
      ['zk get "/config/i', String.raw`t's \$x`],
      ['zk get /config/a', ':'],
      ['zk lock /config -- mktem', 'p '],
    ]
    for (const [keys, completed] of cases) {
      await type(terminal, `${keys}\t`, keys + completed)
      // The line is deleted.
      terminal.type('\x15')
    }
    // Nobody is there: nothing comes, and nothing is said.
    await type(terminal, 'zk get -c 127.0.0.1:1 /con\tX', '127.0.0.1:1 /conX')
    terminal.type('\x15exit\r')
    expect(await terminal.ended).toBe(0)
  })

  test('zk completion completes in fish', async ({ skip }) => {
    if (!isInstalled('fish')) return skip()
    const chroot = await newChroot(ensemble)
    const zk = await newClient(ensemble, { chroot })
    await zk.create("/config/it's", '', { parents: true })
    const words = ['zk prof', 'zk create /a --mode=ttl-s', 'zk get /con', 'zk get /config/', 'zk lock /config -- mktem']
    const script = `
      function zk; ${ZK} $argv; end
      zk completion fish | source
      ${words.map((line) => `complete -C '${line}'`).join('; echo .; ')}`
    const env = { ...process.env, ...homes(), ZK_CONNECT: ensemble.connectString + chroot }
    const completed = execFileSync('fish', ['--no-config', '-c', script], { env, encoding: 'utf8' }).split('\n.\n')
    expect(completed.map((text) => text.split(/\t|\n/)[0])).toEqual([
      'profile',
      '--mode=ttl-sequential',
      '/config',
      "/config/it's",
      'mktemp',
    ])
  })
})

import { expect, test } from 'vitest'
import type { Commands } from '../src/command/command.ts'
import { complete, type Sources } from '../src/shell/complete.ts'

function command(usage: string, options: { name: string; short?: string; value?: string; choices?: string[] }[] = []) {
  const described = options.map((option) => ({ ...option, help: `what ${option.name} does` }))
  const load = async () => ({ usage, options: described, notes: '', run: async () => 0 })
  return { summary: `What it does.`, load }
}

const COMMANDS: Commands = {
  lock: command('PATH [options] -- COMMAND [ARG…]', [
    { name: 'on-suspend', value: 'wait|term' },
    { name: 'wait', short: 'w', value: 'TIME' },
    { name: 'read' },
  ]),
  locks: command('PATH… [options]'),
  set: command('PATH DATA [options]', [{ name: 'mode', value: 'MODE', choices: ['one', 'two'] }]),
  profile: command('add|list|show [PROFILE] [options]'),
}

const NODES: Readonly<Record<string, readonly string[]>> = {
  '/': ['zookeeper', 'config', 'con'],
  '/config': ['b', 'a', 'line\nend', 'right\u202eleft'],
}

function sources(over: Partial<Sources> = {}): Sources {
  return {
    commands: COMMANDS,
    profiles: () => ['prod', 'test'],
    resolve: (path) => (path === '/' ? path : path.startsWith('/') ? path.replace(/\/$/, '') : undefined),
    children: async (path) => NODES[path] ?? [],
    ...over,
  }
}

test.each<[words: string[], current: string, kind: string, texts: string[]]>([
  [[], 'lo', 'words', ['lock', 'locks']],
  [[], 'h', 'words', ['help']],
  [['help'], 'se', 'words', ['set']],
  [['nothing'], '', 'words', []],
  [['lock', '/a'], '--on', 'words', ['--on-suspend']],
  [['lock', '--read'], '--r', 'words', []],
  [['lock', '--on-suspend'], '', 'words', ['wait', 'term']],
  [['lock'], '--on-suspend=t', 'words', ['--on-suspend=term']],
  [['set', '/a', 'x', '--mode'], 't', 'words', ['two']],
  [['lock', '-w'], '', 'words', []],
  [['set', '--tls-ca'], 'c', 'files', []],
  [['set', '--auth-file', 'a'], '--auth', 'words', ['--auth-file']],
  [['set', '--profile'], 'p', 'words', ['prod']],
  [['profile'], 's', 'words', ['show']],
  [['profile', 'show'], '', 'words', ['prod', 'test']],
  [['lock', '/a', '--'], 'tr', 'programs', []],
  [['lock', '/a', '--', 'cat'], '', 'files', []],
  [['set'], '', 'prefixes', ['/con', '/config', '/zookeeper']],
  [['set'], '/conf', 'prefixes', ['/config']],
  [['set', '--mode', 'one'], '/conf', 'prefixes', ['/config']],
  [['set', '/config'], '/', 'words', []],
  [['locks', '/con', '/zookeeper'], '/conf', 'prefixes', ['/config']],
  [['set'], 'conf', 'prefixes', []],
])('complete offers after %j for %j the %s %j', async (words, current, kind, texts) => {
  const found = await complete(words, current, sources())
  expect([found.kind, found.candidates.map(({ text }) => text)]).toEqual([kind, texts])
})

test('complete goes on with the children of a node whose name is complete, without names that a terminal would not show', async () => {
  const found = await complete(['set'], '/config', sources())
  expect(found.candidates.map(({ text }) => text)).toEqual(['/config/a', '/config/b'])
})

test('complete passes the options of the line on to the reader of nodes', async () => {
  let servers: string | undefined
  const children: Sources['children'] = async (_path, args) => {
    servers = args.text('connect')
    return []
  }
  await complete(['set', '-c', 'zk1:2181'], '/a', sources({ children }))
  expect(servers).toBe('zk1:2181')
})

// The recordings in READMEs: what the packed commands print, with other sessions, times and ports.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TestServer } from '@zk/testing'
import { expect, inject, onTestFinished, test } from 'vitest'
import { expectScreenshot } from '../../test/screenshot.ts'

const main = join(inject('consumer'), 'node_modules/@zk/cli/dist/main.js')
/** Processes start slowly on a busy machine. */
const WAIT = { timeout: 30_000 }

test('README.md of @zk/cli shows a lock, who holds it, and how it is lost', async () => {
  await using server = await TestServer.start()
  const start = (words: string[]) => {
    const child = spawn(process.execPath, [main, ...words], {
      env: { ...process.env, ZK_CONNECT: server.connectString },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const ended = once(child, 'close').then(([code]) => code as number)
    return { ended, output: () => output }
  }
  const run = async (words: string[]) => {
    const { ended, output } = start(words)
    await ended
    return output()
  }

  const backup = ['lock', '/locks/backup', '--label', 'db1', '--on-suspend', 'term', '--', 'sh', '-c']
  const holder = start([...backup, 'echo "backup runs, with the token $ZK_LOCK_TOKEN"; sleep 600'])
  await expect.poll(holder.output, WAIT).toContain('backup runs')
  const refused = await run(['lock', '/locks/backup', '-n', '--', 'backup.sh'])
  const table = await run(['locks', '/locks/backup'])
  server.kill()
  expect(await holder.ended).toBe(75)

  const [begun, ...lost] = holder.output().trimEnd().split('\n')
  expectScreenshot('docs/zk.svg', {
    title:
      'zk lock runs a backup; a second host is refused; when the servers are silent, the backup is ended before its lease.',
    text: [
      '$ zk lock /locks/backup --label db1 --on-suspend term -- backup.sh',
      begun,
      '',
      '$ zk lock /locks/backup -n -- backup.sh          # on another host',
      refused.trimEnd(),
      '$ zk locks /locks/backup',
      table.trimEnd(),
      '',
      '                                                 # on the first host: no server answers any more',
      ...lost,
      '$ echo $?',
      '75',
    ]
      .map((line) => asRecorded(line ?? ''))
      .join('\n'),
    columns: 142,
  })
})

test('README.md of @zk/conform shows what a server of 3.5 lacks', async () => {
  await using server = await TestServer.start({ release: '3.5.10' })
  const words = ['run', 'create/1', 'create/2', 'ttl/1', 'persistent-watches/1', server.connectString, '--as', '3.9.6']
  const conform = join(inject('consumer'), 'node_modules/@zk/conform/dist/main.js')
  const { stdout } = await promisify(execFile)(process.execPath, [conform, ...words], {
    env: { ...process.env, NO_COLOR: '1' },
  }).catch((error: { stdout: string }) => error)
  expectScreenshot('docs/conform.svg', {
    title:
      'conform says that a server of 3.5 does not know createTTL and addWatch, with what was expected and what it did.',
    text: [`$ npx @zk/conform ${words.join(' ')}`, stdout]
      .join('\n')
      .replaceAll(server.connectString, '127.0.0.1:2181')
      .trimEnd(),
    columns: 104,
  })
})

/** What differs from run to run becomes what it was in one of them. */
function asRecorded(text: string): string {
  return text
    .replaceAll(/0x[0-9a-f]{8,16}/g, '0x1000012a5f40001')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-28T02:00:00.124Z')
    .replaceAll(/_c_[0-9a-f-]{36}/g, '_c_8aebab58-aa1d-4102-ac66-f420ec896500')
    .replaceAll(/\b\d+ ms before/g, '7361 ms before')
}

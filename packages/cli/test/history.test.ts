import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { History } from '../src/shell/history.ts'

let folder: string
const file = () => join(folder, 'zk/history')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zk-history-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('History keeps lines for the next shell, only for its user, without repetitions and lines that begin with a space', () => {
  const history = new History({ XDG_STATE_HOME: folder })
  for (const line of ['ls /', 'ls /', ' get /secret', '', 'get /a']) expect(history.add(line)).toBeUndefined()
  expect(history.lines).toEqual(['get /a', 'ls /'])
  expect(readFileSync(file(), 'utf8')).toBe('ls /\nget /a\n')
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(new History({ XDG_STATE_HOME: folder }).lines).toEqual(['get /a', 'ls /'])
})

test('History keeps the newest 1,000 lines, also in its file when that is twice as long', () => {
  mkdirSync(join(folder, 'zk'))
  writeFileSync(file(), Array.from({ length: 2_001 }, (_, index) => `get /${index}\n`).join(''))
  const history = new History({ XDG_STATE_HOME: folder })
  expect([history.lines.length, history.lines[0], history.lines.at(-1)]).toEqual([1_000, 'get /2000', 'get /1001'])
  expect(readFileSync(file(), 'utf8').split('\n')).toHaveLength(1_001)
})

test('History goes on without a file that can be written, and says why', () => {
  writeFileSync(join(folder, 'zk'), 'a file where the folder should be')
  const history = new History({ XDG_STATE_HOME: folder })
  expect(history.add('ls /')).toMatch(/EEXIST|ENOTDIR/)
  expect(history.lines).toEqual(['ls /'])
})

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const demo = fileURLToPath(new URL('../dist/demo/main.js', import.meta.url))

test('demo shows that the lock holds while the leader is killed, on its own servers', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [demo])
  expect(stdout).toMatch(/the ensemble's leader, zk\d, is killed/)
  expect(stdout).toMatch(/zk\d leads now/)
  expect(stdout).toContain('10 of 10 finished')
  expect(stdout).toMatch(/The lock held\.\n$/)
})

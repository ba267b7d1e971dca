// The proxy in front of a server of @zk/testing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { connect } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { expect, onTestFinished, test } from 'vitest'

const program = fileURLToPath(new URL('../dist/wire-proxy.js', import.meta.url))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('wire-proxy prints messages, and neither credentials nor session passwords', async () => {
  await using ensemble = await TestEnsemble.start({ members: 1 })
  const here = `127.0.0.1:${await freePort()}`
  const child = spawn(process.execPath, [program, here, ensemble.connectString], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output).toBe('listening\n')
  const zk = await connect(here)
  await zk.addAuth('digest', 'user:hunter22')
  await zk.create('/a', 'some data')
  await zk.close()
  await expect.poll(() => output).toContain('> closeSession  xid')
  expect(output).toContain('> create2 /a  xid 1  "some data" (9 bytes)')
  expect(output).toContain('> auth  xid -4  digest')
  // "hunter" as text and as bytes.
  expect(output).not.toMatch(/hunter|104,\s*117,\s*110|68 ?75 ?6e/)
})

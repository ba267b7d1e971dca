// The adapters in packages/conform for foreign clients, as commands of this machine.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { removeClients, startClientsContainer } from './clients.ts'

/** Those of kazoo and Curator run in a container that uses the network of this machine, the others on this machine. */
export interface Adapters extends AsyncDisposable {
  readonly kazoo: readonly string[]
  readonly curator: readonly string[]
  /** Undefined if Go is not installed. */
  readonly goZookeeper: readonly string[] | undefined
  readonly nodeZookeeperClient: readonly string[]
  readonly ours: readonly string[]
}

/** This path is right both in `src/foreign` and in `dist/foreign`. */
const folder = fileURLToPath(new URL('../../../packages/conform/adapters', import.meta.url))
const run = promisify(execFile)

const JARS = '/foreign/lib/*:/zk/lib/*'

/** Builds them. Needs the command `docker`. */
export async function startAdapters(): Promise<Adapters> {
  const target = await mkdtemp(join(tmpdir(), 'zk-adapters-'))
  const program = join(target, 'go-zookeeper')
  const container = await startClientsContainer([`${folder}:/adapters:ro`])
  const inside = ['docker', 'exec', '-i', container]
  const java = ['java', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx64m', '-Dfile.encoding=UTF-8']
  const compiler = ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '-Werror', '-d', '/tmp/classes']
  const end = async (): Promise<void> => {
    await removeClients(container)
    await rm(target, { recursive: true, force: true })
  }
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  )
  try {
    // The compiler does not expand a "*" in this form.
    const jars = "$(printf '%s:' /foreign/lib/*.jar /zk/lib/*.jar)"
    const compile = [...java, ...compiler, '-cp', `"${jars}"`, '/adapters/CuratorAdapter.java'].join(' ')
    await run('docker', ['exec', container, 'sh', '-c', compile])
    if (hasGo) await run('go', ['build', '-o', program, '.'], { cwd: join(folder, 'go') })
  } catch (error) {
    await end()
    throw error
  }
  return {
    kazoo: [...inside, 'python3.11', '/adapters/kazoo_adapter.py'],
    curator: [...inside, ...java, '-cp', `/etc/zookeeper/conf:/tmp/classes:${JARS}`, 'CuratorAdapter'],
    goZookeeper: hasGo ? [program] : undefined,
    nodeZookeeperClient: [process.execPath, join(folder, 'node-zookeeper-client.mjs')],
    ours: [process.execPath, join(folder, 'zk-client.mjs')],
    [Symbol.asyncDispose]: end,
  }
}

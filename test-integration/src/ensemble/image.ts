import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { dockerClient, statusOf } from './docker.ts'

/**
 * The image of the nodes. If `ZK_IMAGE` is set (for example `zookeeper:3.9`, if a registry can be reached), it is that
 * image. If `ZK_RELEASE` is set (for example `3.5.10`), it has that release, otherwise Debian's release. The last two are
 * built if they are missing.
 */
export async function ensureImage(): Promise<string> {
  const { ZK_IMAGE: image, ZK_RELEASE: release } = process.env
  if (image) return image
  if (!release) return ensureBuilt(nodes)
  if (!/^\d+\.\d+\.\d+$/.test(release))
    throw new Error(`ZK_RELEASE is '${release}', which is no release such as 3.5.10`)
  const base = await ensureBuilt(nodes)
  return ensureBuilt({ name: 'zk-release', directory: folder('release-image'), base, release })
}

/** Whether the nodes have Debian's release. */
export function isDebian(): boolean {
  return !process.env['ZK_IMAGE'] && !process.env['ZK_RELEASE']
}

/** The image with the foreign clients: zkCli, kazoo and Curator. It is always built on our own image of nodes. */
export async function ensureClientsImage(): Promise<string> {
  const base = await ensureBuilt(nodes)
  return ensureBuilt({ name: 'zk-foreign-clients', directory: folder('foreign-image'), base })
}

interface Recipe {
  readonly name: string
  /** Contains a Dockerfile, and build-rootfs.sh, which makes a tar for it. */
  readonly directory: string
  /** The image on which this one is built. @default none */
  readonly base?: string
  /** The release of ZooKeeper, if the packages do not decide it. */
  readonly release?: string
}

/** This path is right both in `src/ensemble` and in `dist/ensemble`. */
const folder = (name: string): string => fileURLToPath(new URL(`../../${name}/`, import.meta.url))

const nodes: Recipe = { name: 'zk-test', directory: folder('image') }

async function ensureBuilt(recipe: Recipe): Promise<string> {
  const { release } = recipe
  const name = `${recipe.name}:${release === undefined ? '' : `${release}-`}${await hashOf(recipe)}`
  if (await exists(name)) return name

  try {
    await buildOnce(recipe, name)
  } catch (cause) {
    throw new Error(
      `Cannot build ${name} from ${release === undefined ? "Debian's packages" : "Maven's repository"}. ` +
        'For the servers you may name another image in ZK_IMAGE, say zookeeper:3.9.',
      { cause },
    )
  }
  return name
}

async function hashOf({ directory, base = '' }: Recipe): Promise<string> {
  const hash = createHash('sha256').update(base)
  for (const file of (await readdir(directory)).sort()) {
    hash.update(`${file}\0`).update(await readFile(join(directory, file)))
  }
  return hash.digest('hex').slice(0, 12)
}

async function exists(name: string): Promise<boolean> {
  const { container } = await dockerClient()
  try {
    await container.dockerode.getImage(name).inspect()
    return true
  } catch (error) {
    if (statusOf(error) === 404) return false
    throw error
  }
}

async function buildOnce(recipe: Recipe, name: string): Promise<void> {
  const release = await lock()
  try {
    if (!(await exists(name))) await build(recipe, name)
  } finally {
    release()
  }
}

async function build({ directory, base = '', release }: Recipe, name: string): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), 'zk-test-image-'))
  try {
    await cp(directory, context, { recursive: true })
    const what = release === undefined ? [] : [release]
    await run('bash', [join(directory, 'build-rootfs.sh'), join(context, 'rootfs.tar'), ...what])
    await buildFrom(context, name, base === '' ? {} : { BASE: base })
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

const run = promisify(execFile)

/** We do not use the builder of testcontainers, because it loses the engine's reason if a build fails. */
async function buildFrom(context: string, name: string, buildargs: Record<string, string>): Promise<void> {
  const { container } = await dockerClient()
  const stream = await container.dockerode.buildImage(
    { context, src: await readdir(context) },
    { t: name, forcerm: true, buildargs },
  )
  let log = ''
  for await (const line of createInterface({ input: stream })) {
    const message = JSON.parse(line) as { readonly stream?: string; readonly error?: string }
    log += message.stream ?? ''
    if (message.error !== undefined) throw new Error(`${message.error}\n${log}`)
  }
}

/**
 * Lets only one process of this machine build at a time. The lock is `flock`'s. A child process holds it as long as its
 * standard input is open, so it is released however this process ends.
 */
async function lock(): Promise<() => void> {
  const file = join(tmpdir(), `zk-test-image-${userInfo().uid}.lock`)
  const holder = spawn('flock', [file, 'sh', '-c', 'echo locked; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder, 'spawn')
  await once(holder.stdout, 'data')
  return () => holder.stdin.end()
}

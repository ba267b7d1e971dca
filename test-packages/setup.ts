import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A project outside of this workspace, in which the packed packages are installed. */
    readonly consumer: string
  }
}

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

/** Packages that a project has besides ours, and their commands. They come from this workspace: nothing is fetched. */
const tools: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@babel/plugin-transform-modules-commonjs': {},
  '@jest/globals': {},
  '@types/node': {},
  jest: { jest: 'bin/jest.js' },
  'ts-jest': {},
}

/** Packs the published packages and installs them, as their users do, into a project that all files of a run share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Some tools print the real path of a folder, without symbolic links.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'zk-packages-')))
  const packed = await pack(folder)
  const tarballs = packed.filter(({ foreign }) => foreign.length === 0).map(({ tarball }) => tarball)
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], {
    cwd: folder,
  })
  for (const each of packed.filter(({ foreign }) => foreign.length > 0)) await unpack(each, folder)
  for (const [name, commands] of Object.entries(tools)) await link(folder, name, commands)
  project.provide('consumer', folder)
  return async () => await rm(folder, { recursive: true, force: true })
}

interface Packed {
  readonly name: string
  readonly tarball: string
  /** The packages besides ours that it needs. */
  readonly foreign: readonly string[]
}

/** The tarballs of all packages. */
async function pack(folder: string): Promise<Packed[]> {
  const { stdout } = await run(process.execPath, [join(root, 'scripts/tarballs.mjs'), folder])
  const tarballs = stdout.trim().split('\n')
  return await Promise.all(
    tarballs.map(async (tarball) => {
      const [, name] = /zk-([^/]+)-\d+\.\d+\.\d+\.tgz$/.exec(tarball)!
      const { dependencies, peerDependencies } = JSON.parse(
        await readFile(join(root, 'packages', name!, 'package.json'), 'utf8'),
      ) as Record<string, object | undefined>
      const foreign = Object.keys({ ...dependencies, ...peerDependencies }).filter((other) => !other.startsWith('@zk/'))
      return { name: name!, tarball, foreign }
    }),
  )
}

/** npm would fetch the packages that it needs besides ours, so this links those of the workspace. */
async function unpack({ name, tarball, foreign }: Packed, folder: string): Promise<void> {
  const target = join(folder, 'node_modules/@zk', name)
  await mkdir(target, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
  for (const other of foreign) await link(folder, other, {}, join(root, 'packages', name))
  const { bin = {} } = JSON.parse(await readFile(join(target, 'package.json'), 'utf8')) as {
    bin?: Readonly<Record<string, string>>
  }
  await linkCommands(folder, target, bin)
}

/** Links a package as if it were installed. At its real path it finds its own dependencies. */
async function link(
  folder: string,
  name: string,
  commands: Readonly<Record<string, string>>,
  user = join(root, 'test-packages'),
): Promise<void> {
  const target = join(folder, 'node_modules', name)
  const source = await realpath(
    await Promise.any([user, root].map((from) => realpath(join(from, 'node_modules', name)))),
  )
  await mkdir(dirname(target), { recursive: true })
  await symlink(source, target)
  await linkCommands(folder, source, commands)
}

async function linkCommands(folder: string, source: string, commands: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true })
  for (const [command, file] of Object.entries(commands)) {
    await chmod(join(source, file), 0o755)
    await symlink(join(source, file), join(folder, 'node_modules/.bin', command))
  }
}

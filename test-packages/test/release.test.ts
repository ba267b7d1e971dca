// What a release publishes, as far as that can be tested without publishing.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { runtimes } from '../../test-integration/test/support/runtimes.ts'

interface Staged {
  readonly folder: string
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const script = async (name: string) => (await import(join(root, 'scripts/release', name))) as unknown
const { stage } = (await script('stage.mjs')) as { stage: (into: string, address: string) => Staged[] }
const { withoutRelativeLinks } = (await script('links.mjs')) as {
  withoutRelativeLinks: (
    markdown: string,
    place: {
      address: string | undefined
      version: string
      folder: string
      beside?: (path: string) => string | undefined
    },
  ) => string
}
const { publish } = (await script('publish.mjs')) as {
  publish: (release: { staged: Staged[]; tarballs: string[]; folder: string; run: Run }) => void
}
const { ADDRESS, NO_ADDRESS } = (await script('address.mjs')) as { ADDRESS: string | undefined; NO_ADDRESS: string }

type Run = (command: string, args: string[], folder: string) => number

const address = 'https://github.com/owner/name'
const folder = mkdtempSync(join(tmpdir(), 'zk-release-'))
const staged = stage(folder, address)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(staged)('$manifest.name', ({ folder, manifest }) => {
  test('names the repository, and real versions of the other packages', () => {
    const name = manifest.name.slice('@zk/'.length)
    expect(manifest).toMatchObject({
      repository: { type: 'git', url: `git+${address}.git`, directory: `packages/${name}` },
      homepage: `${address}/tree/v${manifest.version}/packages/${name}#readme`,
      bugs: { url: `${address}/issues` },
    })
    expect(JSON.stringify(manifest)).not.toContain('workspace:')
    expect(manifest).not.toHaveProperty('scripts')
  })

  test.each(['README.md', 'CHANGELOG.md'])('%s has no relative link', (page) => {
    const text = readFileSync(join(folder, page), 'utf8')
      .replace(/^```[^]*?^```/gm, '')
      .replace(/`[^`\n]*`/g, '`')
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
    expect(targets.filter((target) => !/^(#|https:\/\/)/.test(target))).toEqual([])
  })
})

const linked = `[Errors](../../docs/guide/errors.md#codes), [\`Lock\`](src/lock.ts), ![a](../../docs/a.svg), [here](#it), [there](https://a.b)`
const code = `\`[a](b)\`\n\n\`\`\`md\n[a](b)\n\`\`\`\n`
const place = { version: '1.2.3', folder: 'packages/recipes' }

test('withoutRelativeLinks makes URLs of the links of a page, and leaves code alone', () => {
  expect(withoutRelativeLinks(`${linked}\n${code}`, { ...place, address })).toBe(
    `[Errors](${address}/blob/v1.2.3/docs/guide/errors.md#codes), [\`Lock\`](${address}/blob/v1.2.3/packages/recipes/src/lock.ts), ` +
      `![a](${address}/raw/v1.2.3/docs/a.svg), [here](#it), [there](https://a.b)\n${code}`,
  )
})

test('withoutRelativeLinks leaves only the texts as long as there is no address', () => {
  expect(withoutRelativeLinks(linked, { ...place, address: undefined })).toBe(
    'Errors, `Lock`, a, [here](#it), [there](https://a.b)',
  )
})

test('withoutRelativeLinks keeps links between pages that are published together', () => {
  const beside = (path: string) =>
    path === 'docs/guide' ? 'docs/guide/errors.md' : path.endsWith('.md') ? path : undefined
  const folders = '[guide](../../docs/guide), [home](../../README.md)'
  expect(withoutRelativeLinks(`${linked}\n${folders}`, { ...place, address: undefined, beside })).toBe(
    `[Errors](../../docs/guide/errors.md#codes), \`Lock\`, a, [here](#it), [there](https://a.b)\n` +
      '[guide](../../docs/guide/errors.md), [home](../../README.md)',
  )
})

describe('publish', () => {
  const tarballs = staged.map(({ manifest }) => `${manifest.name}.tgz`)
  const published = (answer: Run) => {
    const calls: string[] = []
    const run: Run = (command, args, folder) => {
      calls.push([command, ...args].join(' '))
      return answer(command, args, folder)
    }
    return { calls, publish: () => publish({ staged, tarballs, folder, run }) }
  }
  const isView: Run = (_, [verb]) => (verb === 'view' ? 1 : 0)
  const JSR = 'deno publish --allow-slow-types --allow-dirty'

  test('publishes each package after those it needs, with provenance, and then all of them to JSR', () => {
    const { calls, publish } = published(isView)
    publish()
    const names = staged.map(({ manifest }) => manifest.name)
    expect(calls.filter((call) => !call.startsWith('npm view'))).toEqual([
      ...names.map((name) => `npm publish ${name}.tgz --provenance --access public`),
      JSR,
    ])
    expect(names.indexOf('@zk/wire')).toBeLessThan(names.indexOf('@zk/client'))
    expect(names.indexOf('@zk/client')).toBeLessThan(names.indexOf('@zk/recipes'))
  })

  test('leaves out what is published already', () => {
    const { calls, publish } = published(() => 0)
    publish()
    expect(calls.filter((call) => !call.startsWith('npm view'))).toEqual([JSR])
  })

  test('stops at the first failure', () => {
    const { calls, publish } = published(() => 1)
    expect(publish).toThrow('was not published')
    expect(calls).toHaveLength(2)
  })
})

test('pnpm release --dry-run lists packages, sizes and files, and says what is missing', async () => {
  const { code, output } = await runScript('scripts/release.mjs', '--dry-run')
  for (const { manifest } of staged) {
    expect(output).toMatch(
      new RegExp(`${manifest.name} ${manifest.version}: \\d+ kB packed, \\d+ kB unpacked, \\d+ files`),
    )
  }
  expect(output).toContain('dist/')
  expect(output).toContain(ADDRESS === undefined ? NO_ADDRESS : ADDRESS)
  expect(code).toBe(0)
})

if (ADDRESS === undefined) {
  test('pnpm release refuses to publish without an address', async () => {
    expect(await runScript('scripts/release.mjs')).toEqual({ code: 1, output: `${NO_ADDRESS}\n` })
  })
}

test('a package is not packed from its own folder', async () => {
  for (const name of readdirSync(join(root, 'packages'))) {
    const { scripts } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    expect(scripts['prepack']).toBe('node ../../scripts/release/refuse.mjs')
  }
  const { code, output } = await runScript('scripts/release/refuse.mjs')
  expect(code).toBe(1)
  expect(output).toContain('pnpm tarballs <folder>')
})

// `setup.ts` runs the script and installs the tarballs, and `runtimes.test.ts` runs the first example with them.
test('README.md installs tarballs with a command that exists', () => {
  const { packageManager, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    packageManager: string
    scripts: Record<string, string>
  }
  const commands = /^```sh\n([^]*?)^```/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  const [pack, install] = commands?.split('\n').map((line) => line.split(/\s+#/)[0]) ?? []
  expect([pack, install]).toEqual([
    `npx --yes ${packageManager} tarballs ../zk-tarballs`,
    'npm install ../zk-tarballs/*.tgz',
  ])
  expect(scripts['tarballs']).toBe('node scripts/build.mjs && node scripts/tarballs.mjs')
})

test('the release workflow has the right to prove provenance, and runs the release of this repository', () => {
  const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { packageManager: string }
  expect(workflow).toContain('id-token: write')
  expect(workflow).toContain(`npx --yes ${packageManager} release`)
  expect([...workflow.matchAll(/deno@([\d.]+)/g)].map(([all]) => all)).toEqual(
    [...readFileSync(join(root, '.ci/run'), 'utf8').matchAll(/deno@([\d.]+)/g)].map(([all]) => all),
  )
})

const deno = runtimes.find(({ name }) => name === 'Deno')

test.runIf(deno)(
  'deno publish --dry-run accepts the sources for JSR',
  async () => {
    const args = ['publish', '--dry-run', '--allow-dirty', '--allow-slow-types']
    const { code, output } = await execute(deno!.program, args, folder)
    expect(output).toContain('Dry run complete')
    const onJsr = staged.filter(({ folder }) => existsSync(join(folder, 'jsr.json')))
    expect(onJsr.length).toBeGreaterThan(3)
    for (const { manifest } of onJsr) expect(output).toContain(`${manifest.name}@${manifest.version}`)
    expect(code).toBe(0)
    // It checks all types: ten seconds of a free core.
  },
  300_000,
)

function runScript(file: string, ...args: string[]) {
  return execute(process.execPath, [file, ...args], root)
}

function execute(program: string, args: string[], cwd: string): Promise<{ code: unknown; output: string }> {
  const env = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' }
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr })
    })
  })
}

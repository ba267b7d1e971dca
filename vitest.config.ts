import { readdirSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests run the TypeScript sources of every package, never a build of them.
const conditions = ['@zk/source', 'node']

const filesIn = (folder: string) =>
  readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name}`,
  )

const testFiles = ['cli', 'client', 'conform', 'opentelemetry', 'recipes', 'testing', 'wire']
  .map((name) => `packages/${name}/test`)
  .concat('test-integration/test')
  .flatMap(filesIn)

/** The globs. Throws if one of them matches no file: vitest would not say so, and a renamed test would run with the others. */
function matching(globs: readonly string[]): string[] {
  for (const glob of globs) {
    const parts = glob.split('**/').map((part) => part.replaceAll('.', '\\.').replaceAll('*', '[^/]*'))
    const pattern = new RegExp(`^${parts.join('(.*/)?')}$`)
    if (!testFiles.some((file) => pattern.test(file))) throw new Error(`vitest.config.ts: no test file matches ${glob}`)
  }
  return [...globs]
}

/**
 * Each needs a process of its own; the other unit tests share theirs. They measure memory, replace a module, or use an
 * AsyncLocalStorage, from which on every promise of a process costs several times as much (Node 20).
 */
const ISOLATED = matching(
  [
    'async-context',
    'call-options',
    'close',
    '*cycles*',
    'everything-in-json',
    'frame',
    'fuzz',
    'instrumentation',
    'kept-contenders',
    'leaks',
    'memory',
    'metrics',
    'readme',
    'reentrant',
    'spans',
    'stalls',
    'two-copies',
    'type',
    'wire',
  ].map((name) => `packages/*/test/**/${name}.test.ts`),
)

/**
 * An ensemble with its clients takes less than 2 GiB. Its tests mostly wait, but with four ensembles on two cores a follower now and
 * then loses its leader, because one of them gets no CPU for too long: so there are as many as cores.
 */
const ensembles = Number(
  process.env['ZK_ENSEMBLES'] ?? Math.max(1, Math.min(4, availableParallelism(), Math.floor(totalmem() / 2 ** 32))),
)

/** They measure times on real servers that other work would change, or take all cores themselves: one at a time. */
const ALONE = matching(
  ['chaos', 'lease', 'lease-links', 'many-watches', 'stalls'].map((name) => `test-integration/test/${name}.test.ts`),
)

/** They take a minute or more, and begin first. Their size, by which vitest orders files it does not know, does not show it. */
const LONG = matching(
  ['differential', 'ensemble-health', 'foreign/mirror', 'foreign/mixed', 'security', 'touches'].map(
    (name) => `test-integration/test/${name}.test.ts`,
  ),
)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((path) => moduleId.endsWith(path))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const unit = {
  maxWorkers: availableParallelism(),
  // Their time is virtual, or is spent on work: the limit only ends a test that hangs, also on a busy machine.
  testTimeout: 120_000,
}

const integration = {
  globalSetup: 'test-integration/setup.ts',
  setupFiles: 'test-integration/whole-ensemble.ts',
  testTimeout: 120_000,
  hookTimeout: 120_000,
}

// A group starts when the one before has ended. `scripts/test.mjs` runs projects of different groups side by side.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    sequence: { sequencer: LongestFirst },
    // What is polled for happens at once on a quiet machine. The limit only ends a test that fails.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/test/**/*.test.ts'],
          // The scenarios are played here on the ensemble of @zk/testing, and in `integration` on real servers.
          exclude: [
            '**/node_modules/**',
            '**/dist/**',
            'test-integration/test/!(scenarios)/**',
            'test-integration/test/*.test.ts',
            'test-packages/**',
            ...ISOLATED,
          ],
          // A process for each file would take as long to start, and to load the sources, as its tests take.
          isolate: false,
          ...unit,
        },
      },
      { extends: true, test: { name: 'unit-isolated', include: ISOLATED, ...unit } },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test-integration/test/**/*.test.ts'],
          exclude: ALONE,
          // Each worker has an ensemble, which its files share.
          maxWorkers: ensembles,
          sequence: { groupOrder: 1 },
          ...integration,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration-alone',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...integration,
        },
      },
      {
        test: {
          name: 'packages',
          include: ['test-packages/test/**/*.test.ts'],
          globalSetup: 'test-packages/setup.ts',
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 3 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})

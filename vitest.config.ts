import { defineConfig } from 'vitest/config'

// Tests run the TypeScript sources of every package, never a build of them.
const conditions = ['@zk/source', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // What is polled for happens at once on a quiet machine. The limit only ends a test that fails.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', 'test-integration/**', 'test-packages/**'],
          // Their time is virtual, or is spent on work: the limit only ends a test that hangs, also on a busy machine.
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test-integration/test/**/*.test.ts'],
          globalSetup: 'test-integration/setup.ts',
          setupFiles: 'test-integration/after-each.ts',
          // One ensemble serves all files: they take turns, and start when the unit tests have left the machine.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'packages',
          include: ['test-packages/test/**/*.test.ts'],
          globalSetup: 'test-packages/setup.ts',
          // Compilers and runtimes want the machine to themselves.
          sequence: { groupOrder: 2 },
          testTimeout: 120_000,
        },
      },
    ],
  },
})

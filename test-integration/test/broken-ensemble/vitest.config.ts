// A separate run, for ensemble-health.test.ts: its first test fails, as it should.
import { defineConfig } from 'vitest/config'

// As for all tests: the sources of every package, never a build of them.
const conditions = ['@zk/source', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['**/*.fixture.ts'],
    globalSetup: './setup.ts',
    setupFiles: '../../whole-ensemble.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})

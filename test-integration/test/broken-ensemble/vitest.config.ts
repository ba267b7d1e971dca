// A run of its own, for ensemble-health.test.ts: its first test fails, as it should.
import { defineConfig } from 'vitest/config'
import { conditions } from '../../../vitest.config.ts'

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['**/*.fixture.ts'],
    globalSetup: './setup.ts',
    setupFiles: '../../after-each.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})

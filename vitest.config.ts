import { defineConfig } from 'vitest/config'

// Tests run the TypeScript sources of every package, never a build of them.
const conditions = ['@zk/source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'] },
      },
    ],
  },
})

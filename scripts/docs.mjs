// Makes the pages of the public surface, docs/typedoc, which git ignores. TypeDoc reads the sources. With `--check` nothing
// is written. Every warning of TypeDoc is a failure: a broken link, a type that is mentioned but not exported, a missing doc
// comment. TypeDoc needs a TypeScript that has an API. That of this repository has none, so both are in test-packages.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../test-packages', import.meta.url))
const check = process.argv.includes('--check') ? ['--emit', 'none'] : []
const { status } = spawnSync(process.execPath, ['node_modules/typedoc/bin/typedoc', '--logLevel', 'Warn', ...check], {
  cwd: folder,
  stdio: 'inherit',
})
process.exitCode = status ?? 1

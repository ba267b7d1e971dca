// The pages of the public surface, docs/typedoc, made of the sources by TypeDoc; git ignores them. With `--check` nothing is
// written. Every warning of TypeDoc fails both: a broken link, a type that is mentioned and not exported, no doc comment.
// TypeDoc needs a TypeScript with an API, and the one of this repository has none: test-packages has both.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../test-packages', import.meta.url))
const check = process.argv.includes('--check') ? ['--emit', 'none'] : []
const { status } = spawnSync(process.execPath, ['node_modules/typedoc/bin/typedoc', '--logLevel', 'Warn', ...check], {
  cwd: folder,
  stdio: 'inherit',
})
process.exitCode = status ?? 1

// The only command that builds: `tsc -b` checks all types, and writes declarations of the packages and programs of the
// workspace; then the code of each published package becomes one file an entry. The man
// pages of zk come last, because the built zk knows its own tables.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundlePackages } from './bundle.mjs'
import { writeManPages } from './man.mjs'
import { root } from './parts.mjs'

const { status } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b'], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) {
  await bundlePackages()
  writeManPages()
} else process.exitCode = status ?? 1

// Packs all packages as they would be published: `pnpm tarballs <folder>`, which builds first.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pack, stage } from './release/stage.mjs'

const [into] = process.argv.slice(2)
if (into === undefined) {
  console.error('pnpm tarballs <folder>: the folder for the tarballs is missing')
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'zk-tarballs-'))
try {
  for (const { filename } of pack(stage(folder), resolve(into))) console.log(join(into, filename))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

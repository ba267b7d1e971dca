// Publishes the packages to npm and JSR: `pnpm release`, which builds first. The workflow `release` runs it.
//
//   pnpm release --dry-run           only says what would be published
//   pnpm release --dry-run --files   also lists every file

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ADDRESS, NO_ADDRESS } from './release/address.mjs'
import { publish } from './release/publish.mjs'
import { pack, stage } from './release/stage.mjs'

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' }, files: { type: 'boolean' } } })
const isDry = values['dry-run'] === true

if (!isDry && ADDRESS === undefined) {
  console.error(NO_ADDRESS)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'zk-release-'))
try {
  const staged = stage(folder)
  const packed = pack(staged, folder)
  for (const each of packed) describe(each)
  console.log(ADDRESS === undefined ? `\n${NO_ADDRESS}` : `\nRepository: ${ADDRESS}`)
  if (!isDry) {
    const tarballs = packed.map(({ filename }) => join(folder, filename))
    publish({ staged, tarballs, folder, run })
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function describe({ name, version, size, unpackedSize, files }) {
  console.log(`${name} ${version}: ${kB(size)} packed, ${kB(unpackedSize)} unpacked, ${files.length} files`)
  for (const part of new Set(files.map(partOf))) {
    const those = files.filter((file) => partOf(file) === part)
    const sum = those.reduce((all, { size }) => all + size, 0)
    console.log(`  ${part.padEnd(14)} ${kB(sum).padStart(8)}${those.length > 1 ? `  ${those.length} files` : ''}`)
    if (values.files) for (const { path, size } of those) console.log(`    ${path} ${size}`)
  }
}

function partOf({ path }) {
  return path.includes('/') ? `${path.split('/')[0]}/` : path
}

function kB(bytes) {
  return `${Math.round(bytes / 1_000)} kB`
}

function run(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status ?? 1
}

// Writes the reports of the public surface: docs/api has one for each entry that a published package exports.
//
// API Extractor makes them from the built declarations. `pnpm api` writes them. With `--check` they are only compared, and
// nothing is written into the tree. The report also has declarations without `export`, if an exported declaration mentions
// them: for example a class from which `ZooKeeper` gets members. Both fail if a declaration has no doc comment, or if
// declarations do not compile, because a user's compiler may read them.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'

const root = fileURLToPath(new URL('..', import.meta.url))
const reportFolder = join(root, 'docs', 'api')

const made = makeReports(publishedEntries())
const stored = readReports(reportFolder)
const names = [...new Set([...made.keys(), ...stored.keys()])].toSorted()
// An `internal` entry is only for our own packages.
const undocumented = names
  .filter((name) => !name.includes('-internal'))
  .flatMap((name) => undocumentedIn(name, made.get(name) ?? ''))
const changed = names.filter((name) => made.get(name) !== stored.get(name))

if (process.argv.includes('--check')) {
  for (const name of changed) console.log(`docs/api/${name}\n${difference(name)}`)
  if (changed.length > 0) {
    console.log(
      'The public surface is not what docs/api says. Is that intended? Then run `pnpm api` and commit what it writes.',
    )
    process.exitCode = 1
  }
} else {
  mkdirSync(reportFolder, { recursive: true })
  for (const name of changed) {
    const report = made.get(name)
    if (report === undefined) rmSync(join(reportFolder, name))
    else writeFileSync(join(reportFolder, name), report)
    console.log(`docs/api/${name}`)
  }
}

if (undocumented.length > 0) {
  console.log(`What the public surface has needs a doc comment; these have none:\n${undocumented.join('\n')}`)
  process.exitCode = 1
}

/** API Extractor marks exports, their members, and the types that these mention. */
function undocumentedIn(name, report) {
  return Array.from(report.matchAll(/\(undocumented\)\n(.*)/g), ([, declaration]) => `${name}: ${declaration.trim()}`)
}

/** All entries of published packages, each with the name to import and the built declarations. */
function publishedEntries() {
  return readdirSync(join(root, 'packages')).flatMap((folderName) => {
    const folder = join(root, 'packages', folderName)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (manifest.private === true) return []
    return entriesOf(manifest).map(([subpath, { types }]) => ({
      name: manifest.name + subpath.slice(1),
      packageName: manifest.name,
      fileName: `${folderName}${subpath.slice(1).replaceAll('/', '-')}.api.md`,
      folder,
      declarations: join(folder, types),
    }))
  })
}

/** The entries with declarations. A file that is exported unchanged, such as package.json, has none. */
function entriesOf({ exports }) {
  return Object.entries(exports).filter(([, { types }]) => types !== undefined)
}

/** The reports by file name. API Extractor only writes files, so it gets a folder outside of the tree. */
function makeReports(entries) {
  const folder = mkdtempSync(join(tmpdir(), 'zk-api-'))
  try {
    const configs = entries.map((entry) => configFor(entry, entries, folder))
    // One program for all entries takes half the time of one program for each.
    const compilerState = CompilerState.create(configs[0], {
      additionalEntryPoints: entries.map((entry) => entry.declarations),
    })
    for (const config of configs) {
      const { succeeded } = Extractor.invoke(config, { compilerState, localBuild: true, messageCallback: tellErrors })
      if (!succeeded)
        throw new Error('the built declarations have errors that their users would see: they are printed above')
    }
    const reports = readReports(folder)
    // API Extractor writes the name of the package into each report; here it becomes the name of the entry.
    for (const { fileName, name, packageName } of entries) {
      reports.set(fileName, reports.get(fileName).replace(`"${packageName}"`, `"${name}"`))
    }
    return reports
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function configFor({ fileName, folder, declarations }, entries, reportsIn) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'))
  // Without the condition for sources, packages see each other's built declarations, as user programs do.
  const { target, lib, types, module, moduleResolution, exactOptionalPropertyTypes } = compilerOptions
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: declarations,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target,
            lib,
            types,
            module,
            moduleResolution,
            exactOptionalPropertyTypes,
            strict: true,
          },
          files: entries.map((entry) => entry.declarations),
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: fileName,
        reportFolder: reportsIn,
        reportTempFolder: join(reportsIn, 'temp'),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        // Messages contain line numbers, which change with every edit. The report itself marks what is undocumented.
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
  })
}

function tellErrors(message) {
  const { sourceFilePath, sourceFileLine, text } = message
  const where = sourceFilePath === undefined ? '' : `${relative(root, sourceFilePath)}:${sourceFileLine}: `
  if (message.logLevel === ExtractorLogLevel.Error) console.log(where + text)
  message.handled = true
}

function readReports(folder) {
  const fileNames = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.api.md'))
  return new Map(fileNames.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** The difference between the stored report and the new one, as git prints it. */
function difference(name) {
  const folder = mkdtempSync(join(tmpdir(), 'zk-api-'))
  const [before, after] = [stored, made].map((reports, index) => {
    const file = join(folder, `${index}-${name}`)
    writeFileSync(file, reports.get(name) ?? '')
    return file
  })
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--no-color', '--', before, after], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return stdout
}

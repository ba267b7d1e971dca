// Reports of the public surface: docs/api has one for each entry that a published package exports.
//
// API Extractor makes them from the built declarations. `pnpm api` writes them; with `--check` they are only compared, and
// nothing is written into the tree. A declaration that no entry exports, but an exported one mentions, is included without
// `export`: `ZooKeeper` has members from such a class. A declaration without a doc comment fails both. So do declarations
// that do not compile: a user's compiler reads them too, unless it is configured to skip them.

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
// An `internal` entry is for our own packages.
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

/** API Extractor reports this for exports, for their members, and for types that these mention. */
function undocumentedIn(name, report) {
  return Array.from(report.matchAll(/\(undocumented\)\n(.*)/g), ([, declaration]) => `${name}: ${declaration.trim()}`)
}

/** Every entry of every published package: its name to import, and the declarations of the build. */
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

/** A file that is exported unchanged, such as package.json, has no declarations. */
function entriesOf({ exports }) {
  return Object.entries(exports).filter(([, { types }]) => types !== undefined)
}

/** File name to text. API Extractor writes files only, so it gets a folder outside the tree. */
function makeReports(entries) {
  const folder = mkdtempSync(join(tmpdir(), 'zk-api-'))
  try {
    const configs = entries.map((entry) => configFor(entry, entries, folder))
    // One program of all entries takes half the time of one program each.
    const compilerState = CompilerState.create(configs[0], {
      additionalEntryPoints: entries.map((entry) => entry.declarations),
    })
    for (const config of configs) {
      const { succeeded } = Extractor.invoke(config, { compilerState, localBuild: true, messageCallback: tellErrors })
      if (!succeeded)
        throw new Error('the built declarations have errors that their users would see: they are printed above')
    }
    const reports = readReports(folder)
    // A report has the name of the package, whichever entry it is about.
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
  // Without the condition for sources, packages see each other's built declarations, as programs do.
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
        // Messages contain line numbers, which change with every edit. What is undocumented is marked in its place.
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

/** The difference of the stored report and the new one, as git prints it. */
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

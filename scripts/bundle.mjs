// Writes the code of each published package into its `dist`: one file for each entry, and `shared.js` for what two entries have
// in common, so that a program has one copy of each class. A file for each module would be simpler, but Node takes four times as
// long to load 250 files. The sources of the maps are in the package. `tsc -b` writes the declarations, one for each module.
// A package that is only a command has no entry for programs, and is one file with all that it needs: it starts in half the time.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { root } from './parts.mjs'

export async function bundlePackages() {
  await Promise.all(readdirSync(join(root, 'packages')).map((name) => bundlePackage(join(root, 'packages', name))))
}

async function bundlePackage(folder) {
  const {
    exports,
    version,
    dependencies = {},
    private: isPrivate,
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (isPrivate) return
  if (exports['.'] === undefined) {
    return bundleCommand(folder, { exports, version, dependencies: Object.keys(dependencies) })
  }
  const sources = Object.values(exports).flatMap(({ '@zk/source': source }) => source ?? [])
  const build = await rolldown({
    input: Object.fromEntries(sources.map((source) => [/(\w+)\.ts$/.exec(source)[1], join(folder, source)])),
    // Other packages, and those of Node.
    external: /^[^./]/,
    platform: 'node',
    plugins: [pureInitializers],
    transform: { target: 'es2022' },
    // Makes the magic string of `pureInitializers`.
    experimental: { nativeMagicString: true },
    // On a busy machine it complains of the plugin.
    checks: { pluginTimings: false },
  })
  const { output } = await build.generate({
    dir: join(folder, 'dist'),
    chunkFileNames: 'shared.js',
    // One file for everything that several entries use, also if there are three entries.
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
    minifyInternalExports: false,
    // The declarations have them.
    comments: { jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
  await build.close()
  writeAll(folder, new Map(output.map(({ fileName, code, source }) => [fileName, code ?? source])))
}

/** What is imported dynamically is evaluated when it is needed, although it is in the same file. */
async function bundleCommand(folder, { exports, version, dependencies }) {
  const build = await rolldown({
    input: join(folder, exports['./main']['@zk/source']),
    // The code that rolldown adds itself imports it.
    external: ['node:module', ...dependencies],
    plugins: [lazyBuiltins],
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    transform: { target: 'es2022', define: { ZK_VERSION: JSON.stringify(version) } },
    treeshake: { propertyReadSideEffects: false },
  })
  const { output } = await build.generate({ codeSplitting: false, minify: true, comments: false })
  await build.close()
  writeAll(folder, new Map(output.map(({ fileName, code }) => [fileName, code])))
}

/**
 * Node loads what a file imports before it runs the file: its TLS and HTTP alone take longer than the help of a command. With this
 * a module of Node is loaded when the first module that imports it is evaluated.
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  resolveId: (id) => (id.startsWith('node:') && id !== 'node:module' ? `\0${id}` : null),
  load(id) {
    if (!id.startsWith('\0node:')) return null
    const name = id.slice(1)
    const exported = Object.keys(process.getBuiltinModule(name)).filter((each) => /^[a-z_$][\w$]*$/i.test(each))
    const code = [
      `const builtin = process.getBuiltinModule('${name}')`,
      ...exported.filter((each) => each !== 'default').map((each) => `export const ${each} = builtin.${each}`),
    ].join('\n')
    return { code, moduleSideEffects: false }
  },
}

function writeAll(folder, made) {
  for (const [name, text] of made) writeIfChanged(join(folder, 'dist', name), text)
  removeOthers(folder, made)
}

/**
 * Marks each call at the top of a module as pure: a bundler then drops it with the variable that is never read. It drops a whole
 * module that is not used, because of `sideEffects` in package.json, but in a file with all modules it needs these marks.
 */
const pureInitializers = {
  name: 'pure-initializers',
  transform(code, _id, { magicString, ast }) {
    const visit = (node) => {
      if (node === null || typeof node !== 'object' || /Function|Class/.test(node.type ?? '')) return
      if (node.type === 'CallExpression' || node.type === 'NewExpression') {
        magicString.appendLeft(node.start, '/* @__PURE__ */ ')
      }
      Object.values(node).forEach(visit)
    }
    for (const statement of ast.body) {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (declaration?.type === 'VariableDeclaration') declaration.declarations.forEach(({ init }) => visit(init))
    }
    return { code: magicString }
  },
}

/** A program that is just running finds the old file or the new one, and `make`-like tools find an old one unchanged. */
function writeIfChanged(file, text) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** Removes what an earlier build has made of sources that are gone: it would be published. */
function removeOthers(folder, made) {
  for (const name of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const source = join(folder, 'src', name.replace(/\.d\.ts(\.map)?$/, '.ts'))
    const isMade =
      made.has(name) || !/\.(js|ts|map)$/.test(name) || (/\.d\.ts(\.map)?$/.test(name) && existsSync(source))
    if (!isMade) rmSync(join(folder, 'dist', name))
  }
}

/**
 * Publishes the tarballs to npm, with provenance, and the staged sources to JSR. `run(command, args, folder)` returns the exit
 * code. Stops at the first failure. Versions that are there already are left out, so a release that failed half-way can go on.
 */
export function publish({ staged, tarballs, folder, run }) {
  for (const [index, { manifest }] of staged.entries()) {
    const what = `${manifest.name}@${manifest.version}`
    if (run('npm', ['view', what, 'version'], folder) === 0) continue
    const args = ['publish', tarballs[index], '--provenance', '--access', 'public']
    if (run('npm', args, folder) !== 0) throw new Error(`${what} was not published, nor were the packages after it.`)
  }
  // The types of many declarations are inferred from their values: JSR calls them slow. It skips versions that it has.
  if (run('deno', ['publish', '--allow-slow-types', '--allow-dirty'], folder) !== 0) {
    throw new Error('The packages are on npm, but not all of them are on JSR.')
  }
}

// Runs before a package is packed or published from its own folder. There, its README has links into the repository, and its
// package.json neither versions of the other packages nor an address.

console.error(
  'A package is not packed from its folder. At the root, `pnpm tarballs <folder>` packs all packages, and `pnpm release` publishes them.',
)
process.exitCode = 1

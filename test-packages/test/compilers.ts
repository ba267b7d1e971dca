import { fileURLToPath } from 'node:url'

/** The oldest TypeScript that reads the declarations, one in between, and that of this repository. */
export const compilers = [
  { version: 5.4, folder: 'typescript-5.4' },
  { version: 5.9, folder: 'typescript-5.9' },
  { version: 7, folder: '../../node_modules/typescript' },
].map(({ version, folder }) => ({
  name: `TypeScript ${version.toFixed(1)}`,
  version,
  tsc: fileURLToPath(new URL(`../node_modules/${folder}/bin/tsc`, import.meta.url)),
}))

import type { Release } from '../database/index.ts'

/** The version that a server reports (Version.getFullVersion). */
export const versionOf = ({ name }: Release): string =>
  `${name.split('-', 1)[0]}-zktesting, built on 2022-02-25 08:49 UTC`

/** The names of properties that only Java has. */
const properties = {
  java: ['version', 'vendor', 'home', 'class.path', 'library.path', 'io.tmpdir', 'compiler'],
  os: ['name', 'arch', 'version'],
  user: ['name', 'home', 'dir'],
  'os.memory': ['free', 'max', 'total'],
}

/** The answer to `envi` (EnvCommand). A missing property is `<NA>`. */
export function environment(host: string, release: Release): string {
  const pairs = [
    ['zookeeper.version', versionOf(release)],
    ['host.name', host],
    ...Object.entries(properties).flatMap(([of, names]) => names.map((name) => [`${of}.${name}`, '<NA>'] as const)),
  ]
  return `Environment:\n${pairs.map(([key, value]) => `${key}=${value}\n`).join('')}`
}

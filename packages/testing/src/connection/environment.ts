/** What this server says it is (Version.getFullVersion). */
export const VERSION = '3.8.0-zktesting, built on 2022-02-25 08:49 UTC'

/** There is no Java behind it to tell of. */
const properties = [
  'java.version',
  'java.vendor',
  'java.home',
  'java.class.path',
  'java.library.path',
  'java.io.tmpdir',
  'java.compiler',
  'os.name',
  'os.arch',
  'os.version',
  'user.name',
  'user.home',
  'user.dir',
  'os.memory.free',
  'os.memory.max',
  'os.memory.total',
]

/** What `envi` is answered (EnvCommand): a property that Java does not have is `<NA>`. */
export function environment(host: string): string {
  const pairs = [
    ['zookeeper.version', VERSION],
    ['host.name', host],
    ...properties.map((property) => [property, '<NA>'] as const),
  ]
  return `Environment:\n${pairs.map(([key, value]) => `${key}=${value}\n`).join('')}`
}

import type { InstrumentationConfig } from '@opentelemetry/instrumentation'

/** The options of the instrumentation. An unknown option, or an invalid value, is a `TypeError`. */
export interface ZooKeeperInstrumentationConfig extends InstrumentationConfig {
  /**
   * Metrics and span names show the paths below these prefixes, cut to one level below the prefix: with `['/locks']`, a lock at
   * `/locks/report` has the attribute `zk.path` `/locks/report`, and so has each call below it. There are at most 100 such paths;
   * further ones are `/locks/*`. Paths are those of the calls, without the chroot of the client.
   * @default none: metrics have no paths
   */
  pathPrefixes?: readonly string[] | undefined
}

const known = ['enabled', 'pathPrefixes']

/** Throws a `TypeError` that says what would be right. */
export function checkConfig(config: ZooKeeperInstrumentationConfig): void {
  const name = 'ZooKeeperInstrumentation'
  if (typeof config !== 'object' || config === null) {
    throw new TypeError(`${name}: the configuration must be an object, such as { pathPrefixes: ['/locks'] }`)
  }
  const unknown = Object.keys(config).find((key) => !known.includes(key))
  if (unknown !== undefined) throw new TypeError(`${name}: unknown option ${unknown}; there are ${known.join(', ')}`)
  const { enabled, pathPrefixes } = config
  if (enabled !== undefined && typeof enabled !== 'boolean') {
    throw new TypeError(`${name}: enabled must be true or false, not ${String(enabled)}`)
  }
  if (pathPrefixes === undefined) return
  if (!Array.isArray(pathPrefixes)) throw new TypeError(`${name}: pathPrefixes must be a list, such as ['/locks']`)
  for (const prefix of pathPrefixes as readonly unknown[]) {
    if (typeof prefix === 'string' && isPath(prefix)) continue
    const shown = typeof prefix === 'string' ? JSON.stringify(prefix) : String(prefix)
    throw new TypeError(
      `${name}: pathPrefixes: ${shown} is no path; a path is '/' or like '/locks', without a '/' at its end`,
    )
  }
}

const isPath = (text: string) => /^\/$|^(\/[^/]+)+$/.test(text)

/** The most different paths. An attribute of a metric makes a time series of each. */
const LIMIT = 100

/** Cuts paths so that few different ones remain. */
export class PathLabels {
  readonly #prefixes: () => readonly string[]
  readonly #labels = new Set<string>()

  constructor(prefixes: () => readonly string[]) {
    this.#prefixes = prefixes
  }

  /** The path down to the level below the longest prefix that it has; undefined if it has none. */
  of(path: string | undefined): string | undefined {
    if (path === undefined) return undefined
    const having = this.#prefixes().filter((prefix) => path === prefix || path.startsWith(withSlash(prefix)))
    if (having.length === 0) return undefined
    const start = withSlash(having.reduce((longest, prefix) => (prefix.length > longest.length ? prefix : longest)))
    const end = path.indexOf('/', start.length)
    const label = end === -1 ? path : path.slice(0, end)
    if (this.#labels.has(label)) return label
    if (this.#labels.size >= LIMIT) return `${start}*`
    this.#labels.add(label)
    return label
  }
}

function withSlash(prefix: string): string {
  return prefix === '/' ? prefix : `${prefix}/`
}

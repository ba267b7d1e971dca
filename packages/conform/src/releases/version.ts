/** The `3.5.10` in `Zookeeper version: 3.5.10-…, built on …`, which `srvr` prints; undefined if there is none. */
export function parseVersion(srvr: string): string | undefined {
  return /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(srvr)?.[1]
}

/** Whether a release came before another, or before all releases of a line such as `3.6`. */
export function isBefore(version: string, other: string): boolean {
  const numbers = version.split('.').map(Number)
  const others = other.split('.').map(Number)
  for (const [place, number] of numbers.entries()) {
    const against = others[place] ?? 0
    if (number !== against) return number < against
  }
  return false
}

/** Whether a release is at or after the one of `firsts` in its own line, or belongs to a line after all of them. */
export function hasReached(version: string, firsts: readonly string[]): boolean {
  const line = lineOf(version)
  const first = firsts.find((each) => lineOf(each) === line)
  if (first !== undefined) return !isBefore(version, first)
  return firsts.every((each) => isBefore(each, version))
}

/** The `3.5` of `3.5.10`. */
function lineOf(version: string): string {
  return version.split('.', 2).join('.')
}

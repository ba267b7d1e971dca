/** The `3.5.10` in `Zookeeper version: 3.5.10-…, built on …`, which `srvr` prints; undefined if there is none. */
export function parseVersion(srvr: string): string | undefined {
  return /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(srvr)?.[1]
}

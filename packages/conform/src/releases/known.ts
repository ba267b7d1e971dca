/** The releases with which servers are compared: the newest of each line, and the first 3.8, which Debian has. In order. */
export const RELEASES: readonly string[] = ['3.5.10', '3.6.4', '3.7.2', '3.8.0', '3.8.7', '3.9.6']

/** The release that `3.8` means: the newest of this line that is known; undefined if there is none. */
export function releaseNamed(name: string): string | undefined {
  return RELEASES.findLast((release) => release === name || release.startsWith(`${name}.`))
}

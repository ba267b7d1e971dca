import { validatePath, type ValidatePathOptions } from '@zk/wire'

/** One object for all calls, as an object for each takes time. */
const plain: ValidatePathOptions = {}

/** The prefix that paths have on the server, and that the caller's paths lack. */
export class Chroot {
  /** The path of the caller's root on the server; `/` if there is no chroot. */
  readonly path: string
  readonly #prefix: string

  constructor(path = '/') {
    this.path = path
    this.#prefix = path === '/' ? '' : path
  }

  /** For errors: undefined if there is no chroot. */
  get shown(): string | undefined {
    return this.path === '/' ? undefined : this.path
  }

  /** Turns a path of the caller into the path on the server. Throws a `TypeError` for an invalid path. */
  absolute(path: string, options: ValidatePathOptions = plain): string {
    validatePath(path, options)
    // For a sequential create at `/` the slash stays: the server appends a number, and the new node is /app/0000000001, not
    // /app0000000001, which is outside the chroot.
    return path === '/' && this.#prefix !== '' && !options.sequential ? this.#prefix : this.#prefix + path
  }

  /** Turns a path on the server into the path of the caller. A path outside of the chroot stays as it is. */
  relative(path: string): string {
    if (this.#prefix === '') return path
    if (path === this.#prefix) return '/'
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path
  }
}

/** For paths that are already the server's: adds no prefix. */
export const noChroot = new Chroot()

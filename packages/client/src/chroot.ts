import { validatePath, type ValidatePathOptions } from '@zk/wire'

/** The prefix that paths have at the server, and that the caller's paths do not have. */
export class Chroot {
  /** The path of the caller's root at the server; `/` if there is no chroot. */
  readonly path: string
  readonly #prefix: string

  constructor(path = '/') {
    this.path = path
    this.#prefix = path === '/' ? '' : path
  }

  /** Turns a path of the caller into the path at the server. Throws a `TypeError` for an invalid path. */
  absolute(path: string, options: ValidatePathOptions = {}): string {
    validatePath(path, options)
    // The server appends a number after the slash. Without the slash the new node would be beside the chroot.
    return path === '/' && this.#prefix !== '' && !options.sequential ? this.#prefix : this.#prefix + path
  }

  /** Turns a path at the server into the path of the caller. */
  relative(path: string): string {
    if (this.#prefix === '') return path
    if (path === this.#prefix) return '/'
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path
  }
}

/** For paths that are already those at the server: adds no prefix. */
export const wholeTree = new Chroot()

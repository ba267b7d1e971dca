import { validatePath, type ValidatePathOptions } from '@zk/wire'

/** The prefix that distinguishes the server's paths from the caller's. */
export class Chroot {
  /** The server's path of the caller's root; `/` without a chroot. */
  readonly path: string
  readonly #prefix: string

  constructor(path = '/') {
    this.path = path
    this.#prefix = path === '/' ? '' : path
  }

  /** The server's path for a path of the caller. Throws a `TypeError` for an invalid path. */
  absolute(path: string, options: ValidatePathOptions = {}): string {
    validatePath(path, options)
    // A counter goes after the slash. Without the slash the new node would be beside the chroot.
    return path === '/' && this.#prefix !== '' && !options.sequential ? this.#prefix : this.#prefix + path
  }

  /** The caller's path for a path of the server. */
  relative(path: string): string {
    if (this.#prefix === '') return path
    if (path === this.#prefix) return '/'
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path
  }
}

/** The chroot for paths of the server itself. */
export const wholeTree = new Chroot()

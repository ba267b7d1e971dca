import { validatePath, type ValidatePathOptions } from '@zk/wire'

/** The prefix between the paths of the caller and those of the server. */
export class Chroot {
  /** Where the paths of the caller begin, as servers know it; `/` for the root. */
  readonly path: string
  readonly #prefix: string

  constructor(path = '/') {
    this.path = path
    this.#prefix = path === '/' ? '' : path
  }

  /** The server's path for a caller's one. Throws a `TypeError` for what cannot be a path. */
  absolute(path: string, options: ValidatePathOptions = {}): string {
    validatePath(path, options)
    // A counter goes behind the slash: without it the new node would stand beside the chroot.
    return path === '/' && this.#prefix !== '' && !options.sequential ? this.#prefix : this.#prefix + path
  }

  /** The caller's path for a server's one. */
  relative(path: string): string {
    if (this.#prefix === '') return path
    if (path === this.#prefix) return '/'
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path
  }
}

/** For paths that are the server's own. */
export const wholeTree = new Chroot()

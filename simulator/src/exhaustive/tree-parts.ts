// Which parts of the tree the server reads and writes for a request.
import type { LoggedTxn } from '@zk/testing'
import { executedParts, type Part } from '../history/executed-parts.ts'
import type { Upward } from './cable.ts'
import { allParts, part, type Parts, theRest } from './footprint.ts'

/** Each folder with its children is a part. All else is one more. */
export class TreeParts {
  readonly #folders: readonly string[]

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  readBy(item: Upward): Parts {
    if (item.type !== 'frame') return allParts
    return item.ops.reduce((parts, { name, path }) => {
      // A sync reads nothing of the tree.
      if (name === 'sync') return parts
      return parts | (path === undefined ? allParts : this.#of(path))
    }, 0)
  }

  /** A node that is created or deleted changes its parent, too. */
  writtenBy(log: readonly LoggedTxn[]): Parts {
    const paths = log.flatMap(({ txn }) => executedParts(txn)).flatMap(pathsOf)
    return paths.reduce((parts, path) => parts | this.#of(path) | this.#of(parentOf(path)), 0)
  }

  #of(path: string): Parts {
    const folder = [path, parentOf(path)].map((each) => this.#folders.indexOf(each)).find((each) => each >= 0)
    return folder === undefined ? theRest : part(folder)
  }
}

function pathsOf(txn: Part): readonly string[] {
  switch (txn.type) {
    case 'create':
    case 'delete':
    case 'setData':
    case 'setACL':
      return [txn.path]
    case 'closeSession':
      return txn.paths
    case 'check':
    case 'createSession':
    case 'presetCounter':
    case 'error':
      return []
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

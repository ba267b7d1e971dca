import { validatePath } from '@zk/wire'
import { type Arguments, UsageError } from '../command/options.ts'

/** The only word, a path. Throws a UsageError. */
export function pathOf(args: Arguments, usage: string): string {
  const [path, ...more] = args.words
  if (path === undefined || more.length > 0) throw new UsageError(`name one path: ${usage}`)
  checkPath(path)
  return path
}

/** Throws a UsageError. The server appends a number to the path of a sequential node, so that it may end with a slash. */
export function checkPath(path: string, options: { readonly sequential?: boolean } = {}): void {
  try {
    validatePath(path, options)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

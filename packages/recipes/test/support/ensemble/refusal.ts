import type { ErrorName } from '@zk/wire'

/** Why a request was not done. */
export class Refusal extends Error {
  readonly code: ErrorName

  constructor(code: ErrorName) {
    super(code)
    this.code = code
  }
}

/** What it returns, or the code it is refused with. */
export function attempt<T>(act: () => T): T | ErrorName {
  try {
    return act()
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

/** What has become of a promise so far: for tests that ask at a moment of their choice, and never wait. */
export class Outcome<T> {
  status: 'pending' | 'fulfilled' | 'rejected' = 'pending'
  /** What it was rejected with. */
  error: unknown
  #value: T | undefined

  constructor(promise: Promise<T>) {
    promise.then(
      (value) => {
        this.status = 'fulfilled'
        this.#value = value
      },
      (error: unknown) => {
        this.status = 'rejected'
        this.error = error
      },
    )
  }

  /** What it was fulfilled with; throws when it was not. */
  get value(): T {
    if (this.status !== 'fulfilled') throw new Error(`the promise is ${this.status}`, { cause: this.error })
    return this.#value as T
  }
}

/** Follows a promise from now on; a rejection counts as handled. */
export function outcome<T>(promise: Promise<T>): Outcome<T> {
  return new Outcome(promise)
}

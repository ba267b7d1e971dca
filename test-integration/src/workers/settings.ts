// Settings that a test gives a worker process: one JSON argument.
import type { HeldWhile } from '@zk/recipes'

export interface WorkerSettings {
  readonly connectString: string
  readonly path: string
  /** File of the history log. */
  readonly log: string
  readonly name: string
  /** Contenders in this process; they share its clients evenly. */
  readonly contenders: number
  readonly clients: number
  /** Turns that each contender takes. */
  readonly turns: number
  /** Longest turn in ms; each is drawn evenly from 0 to it. */
  readonly turn: number
  readonly sessionTimeout: number
  readonly heldWhile?: HeldWhile
  /** Between two calls of `addAuth` with the same credential, in ms. @default none */
  readonly addAuthEvery?: number
}

export function readSettings(): WorkerSettings {
  return JSON.parse(process.argv[2] ?? '{}') as WorkerSettings
}

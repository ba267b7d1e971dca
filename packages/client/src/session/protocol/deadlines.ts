// Every deadline of a session: its name, its formula, and why. T is the session timeout: the negotiated one, or the one
// asked for until there is one. All in milliseconds.

export interface Times {
  readonly T: number
  readonly servers: number
}

/** A few round trips across an ocean. */
const SHORTEST_CONNECT = 200

export const deadlines = {
  /**
   * TCP connect and handshake together: even when every server but the last is dead, one round fits into T. But a T asked
   * for may be far below what the server will make of it, and a handshake takes its time.
   */
  connect: ({ T, servers }: Times) => Math.max(T / servers, SHORTEST_CONNECT),

  /** No whole frame for so long and the connection is taken for dead: T/3 is left to reach another server. */
  silence: ({ T }: Times) => (T * 2) / 3,

  /** The oldest request, or a ping, unanswered for so long, though other frames come: the connection does not work. */
  answer: ({ T }: Times) => (T * 2) / 3,

  /** How long after the last two requests, or the last received frame, pings are due: T/3 is left for their answers. */
  ping: ({ T }: Times) => T / 3,

  /** A call without a timeout of its own: by then the server would have ended a session from which nothing comes. */
  request: ({ T }: Times) => T,

  /** close() waits so long for the server to confirm; ephemeral nodes of an unconfirmed close go when T has passed. */
  close: ({ T }: Times) => T / 2,

  /** The first attempt after a loss comes at a random moment within this: a dead server's clients do not come in one wave. */
  reconnect: ({ T }: Times) => Math.min(1_000, T / 30),

  /** How long a server has to say whether it takes writes: as long as Java waits (ClientCnxn.pingRwServer). */
  probe: () => 1_000,

  /** A session opened in place of an expired one starts at a random moment within this, for the same reason. */
  renew: ({ T }: Times) => Math.min(1_000, T / 30),
} as const

const SHORTEST_BACKOFF = 100
const LONGEST_BACKOFF = 10_000

/**
 * Upper end of the random pause after the n-th round (from 1) in which every server failed: doubles, at most 10 s or T/10. A
 * longer pause would delay the client after the ensemble is back, and with it the next contender for a lock. For a T below 1
 * s, which hardly a server grants, it is that of 1 s.
 */
export function backoff(round: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(round - 1, 10), LONGEST_BACKOFF, Math.max(T / 10, SHORTEST_BACKOFF))
}

/**
 * Upper end of the pause after a server was too busy for a request for the n-th time (from 1): doubles, at most T/32. Every
 * call of the session waits it out, those that confirm a lease too: the two requests of a round have T/8.
 */
export function throttlePause(times: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(times - 1, 10), T / 32)
}

/**
 * After so many T without a valid message the session ends for the user (ZOOKEEPER-4508). The server has very likely ended it
 * by then.
 */
export const LOCAL_EXPIRY = 4 / 3

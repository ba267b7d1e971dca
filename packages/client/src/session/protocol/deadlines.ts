// Every deadline of a session: its name, its formula, and the reason. T is the negotiated session timeout, or before that the
// requested one. All times are in ms.

export interface Times {
  readonly T: number
  readonly servers: number
}

/** Time for a few round trips across an ocean. */
const SHORTEST_CONNECT = 200

export const deadlines = {
  /**
   * For TCP connect and handshake together: one round fits into T, even when every server but the last is dead. The minimum
   * leaves time for a handshake when the requested T is far below the one that the server will grant.
   */
  connect: ({ T, servers }: Times) => Math.max(T / servers, SHORTEST_CONNECT),

  /** After so long without a whole frame the connection counts as dead: T/3 is left to reach another server. */
  silence: ({ T }: Times) => (T * 2) / 3,

  /**
   * After so long without an answer to the oldest request, or to a ping, the connection counts as dead, although other frames
   * come.
   */
  answer: ({ T }: Times) => (T * 2) / 3,

  /** How long after the last two requests, or the last received frame, pings are due: T/3 is left for their answers. */
  ping: ({ T }: Times) => T / 3,

  /** For a call without a timeout of its own: by then the server would have ended a silent session. */
  request: ({ T }: Times) => T,

  /** How long close() waits for the server's answer. Without an answer the ephemeral nodes are deleted after T. */
  close: ({ T }: Times) => T / 2,

  /**
   * The first attempt after a loss comes at a random time within this: so the clients of a dead server do not come in one
   * wave.
   */
  reconnect: ({ T }: Times) => Math.min(1_000, T / 30),

  /** How long a server may take to answer whether it takes writes: as in Java (ClientCnxn.pingRwServer). */
  probe: () => 1_000,

  /** A session after an expired one starts at a random time within this, for the same reason. */
  renew: ({ T }: Times) => Math.min(1_000, T / 30),
} as const

const SHORTEST_BACKOFF = 100
const LONGEST_BACKOFF = 10_000

/**
 * The upper end of the random pause after the n-th round (from 1) in which every server failed. It doubles, up to 10 s or
 * T/10. A longer pause would delay the client after the ensemble is back, and with it the next contender for a lock. For a T
 * below 1 s, which few servers grant, the limit stays at 100 ms.
 */
export function backoff(round: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(round - 1, 10), LONGEST_BACKOFF, Math.max(T / 10, SHORTEST_BACKOFF))
}

/**
 * The upper end of the pause after a server was too busy for a request for the n-th time (from 1). It doubles, up to T/32.
 * Every call of the session waits for it, those that confirm a lease included: a round, which is two requests, has T/8 in
 * all.
 */
export function throttlePause(times: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(times - 1, 10), T / 32)
}

/**
 * After so many T without a valid message the session ends for the program (ZOOKEEPER-4508). The server has very likely ended
 * it by then.
 */
export const LOCAL_EXPIRY = 4 / 3

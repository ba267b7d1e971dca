// Every deadline of a session: its name, its formula, and the reason. T is the session timeout that a server granted, or
// before that the requested one. All times are in ms.

export interface Times {
  readonly T: number
  readonly servers: number
}

/** Enough for a few round trips across an ocean, with TLS. */
const ENOUGH_TO_CONNECT = 1_000
/** Enough for a handshake even if the requested T is far below the T that the server will grant. */
const SHORTEST_CONNECT = 200

/** After `silence` T/3 of the session is left, so a server gets no more than that, however short the list is. */
const LEAST_SHARES = 3

/** The time for look-up, TCP connect and handshake together: see `deadlines.connect`. */
function connect({ T, servers }: Times, slowRounds = 0): number {
  const enough = Math.min(ENOUGH_TO_CONNECT, T / 3) * 2 ** Math.min(slowRounds, 10)
  return Math.max(Math.min(Math.max(T / Math.max(servers, LEAST_SHARES), enough), T), SHORTEST_CONNECT)
}

export const deadlines = {
  /**
   * The time of an attempt: look-up, TCP connect and handshake together. All servers can be tried within T, even if only the
   * last one answers, unless there are so many that each would have too little time. One address may stand for many servers (a
   * load balancer), so it is tried again after T/3, too. How much is enough depends on the link, so
   * it doubles after each round in which an attempt ran out of time (`slowRounds`, in a row). In the end a client connects over
   * any link on which a server can be reached within T. The share of T does not double: otherwise a session could end while the
   * client waits for one dead server.
   */
  connect,

  /**
   * How long an attempt waits for the look-up of its name. Then it uses the last known addresses. If none are known, the next
   * server is tried. The look-up continues. (A dead name server costs 5 s with glibc.) At least half of the time of the attempt
   * is left to connect.
   */
  lookUp: (times: Times, slowRounds = 0) => Math.min(1_000, connect(times, slowRounds) / 2),

  /** A look-up that is unanswered for this long counts as lost: another may begin. Resolvers give up sooner. */
  lookUpLost: () => 60_000,

  /** How long the trial of a server may take. The attempt to connect that follows may take as long. */
  trial: (times: Times) => connect(times),

  /**
   * A connection counts as dead if neither a whole frame nor 64 KiB of a long one has arrived for this long. Then T/3 is left
   * to reach another server.
   */
  silence: ({ T }: Times) => (T * 2) / 3,

  /**
   * A connection also counts as dead if the oldest request, or a ping, is unanswered for this long, even if frames arrive. Each
   * 64 KiB of replies restarts this time.
   */
  answer: ({ T }: Times) => (T * 2) / 3,

  /** Pings are due this long after the last but one request or ping, or after the last received frame: see `Timing.pingAt`. */
  ping: ({ T }: Times) => T / 3,

  /** The default timeout of a call. After this long the server would have ended a silent session. */
  request: ({ T }: Times) => T,

  /** How long close() waits for the server's answer. Without an answer the ephemeral nodes are deleted after T. */
  close: ({ T }: Times) => T / 2,

  /** How long the client waits for the answer to the closeSession of a session that is not its own: a round trip. */
  farewell: () => 1_000,

  /**
   * The upper end of the random pause before the first attempt after a lost connection. The pause is random so that the
   * clients of a dead server do not all connect to another one at once.
   */
  reconnect: ({ T }: Times) => Math.min(1_000, T / 30),

  /** How long a server may take to answer whether it takes writes: as in Java (ClientCnxn.pingRwServer). */
  probe: () => 1_000,

  /** The upper end of the random pause before a new session after an expired one, for the same reason as `reconnect`. */
  renew: ({ T }: Times) => Math.min(1_000, T / 30),

  /**
   * Local expiry: the session counts as expired when no valid message has arrived for this long, 4/3 T by default
   * (ZOOKEEPER-4508). By then the server has very likely ended it.
   */
  localExpiry: ({ T }: Times, asked = (4 / 3) * T) => Math.max(T, asked),
} as const

const SHORTEST_BACKOFF = 100
const LONGEST_BACKOFF = 10_000

/**
 * The upper end of the random pause after the n-th round (from 1) in which every server failed. It doubles with each round, up
 * to 10 s or T/10, whichever is less. If it were longer, a client would return late when the ensemble has recovered, and the
 * next contender for its lock would wait. If T is below 1 s, which few servers grant, the limit is 100 ms.
 */
export function backoff(round: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(round - 1, 10), LONGEST_BACKOFF, Math.max(T / 10, SHORTEST_BACKOFF))
}

/**
 * The pause after the n-th round (from 1) in which no server of a new list has passed the trial. Pauses grow up to a minute: the
 * client stays connected meanwhile, and may never be able to reach the servers of the list.
 */
export function trialPause(round: number): number {
  return Math.min(1_000 * 2 ** Math.min(round - 1, 10), 60_000)
}

/**
 * The upper end of the pause after a server was too busy for the same request for the n-th time (from 1). It doubles each
 * time, up to T/32. All calls of the session wait during the pause, even those that renew a lease: a round of two requests
 * has only T/8 (`leaseTimes.round`).
 */
export function throttlePause(times: number, { T }: Times): number {
  return Math.min(SHORTEST_BACKOFF * 2 ** Math.min(times - 1, 10), T / 32)
}

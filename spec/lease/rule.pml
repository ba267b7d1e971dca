/*
 * The rule of the lease, and the mistake of each variant: one flag removes one part.
 *
 *   p       the earlier of the two latest touches that had both been answered D before the sync was sent;
 *           or the handshake of this connection, without D and sync
 *   sync    answered, on the same connection
 *   check   committed, sent behind the sync's answer on the same connection
 *   end     p, when it was sent, plus the smallest timeout that the session ever had, minus the margin
 */

/* The end, counted from p. */
#if defined(T_OF_CONNECTION)
#define LEASE (timeoutOf[current] - MARGIN)
#elif defined(T_OF_CREATION)
#define LEASE (T0 - MARGIN)
#elif defined(T_FORGETS_BETWEEN)
#define LEASE ((timeoutOf[current] < T0 -> timeoutOf[current] : T0) - MARGIN)
#elif defined(PROVISIONAL)
#define LEASE (T0 / 4)
#else
#define LEASE (tmin - MARGIN)
#endif

/* Both clocks are compared at every call of isHeld. */
#ifdef TIMER_ONLY
#define isHeld (proven)
#else
#define isHeld (proven && sinceP < LEASE)
#endif

/* Packets that count as touches: those that go through ZooKeeperServer.submitRequestNow. */
#ifdef AUTH_IS_TOUCH
#define TOUCH AUTH
#else
#define TOUCH PING
#endif

/* The start of D: replies or requests. */
#if defined(NO_D)
#define isRelayed true
#else
#define isRelayed (sinceAnswers >= D)
#endif

/* The next step after D; after the sync's reply, or a handshake; after sending the check. */
#if defined(NO_SYNC)
#define afterD Synced
#else
#define afterD Syncing
#endif

/* Only replies on the current connection are received. */
#ifdef ANSWERS_OF_OTHER_CONNECTIONS
#define receives(c) true
#define receivesOn(c) current
#else
#define receives(c) (c == current)
#define receivesOn(c) c
#endif

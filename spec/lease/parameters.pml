/*
 * Times are in units of any length: only their order matters. Events within one unit have no order in time.
 */

/* Timeouts of the session: that of its creation and first connection, then those of later ones. A client object requests the
 * same timeout all its life. So another timeout means another object, which has resumed the session. */
#ifndef T0
#define T0 6
#endif
#ifndef T1
#define T1 T0
#endif
#ifndef T2
#define T2 T1
#endif

/* Interval of the leader's pings to its followers: half of tickTime (Leader.lead). */
#ifndef HALF_TICK
#define HALF_TICK 1
#endif

/* The relay delay. */
#ifndef D
#define D 2
#endif

/* A1: the most that the leader's clock gains on the client's during a lease. */
#ifndef DRIFT
#define DRIFT 1
#endif

/* The margin for that: the library's 2 % and 50 ms. */
#ifndef MARGIN
#define MARGIN DRIFT
#endif

/* The connections of the session, one after the other. With 1 their number is unlimited: each replaces the last. */
#ifndef CONNECTIONS
#define CONNECTIONS 1
#endif

/* Number of elected leaders, the first included. */
#ifndef LEADERS
#define LEADERS 2
#endif

#define NONE 3

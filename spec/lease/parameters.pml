/*
 * Times are in units of any length: what matters is which is longer than which. What happens within one unit has no order in time.
 */

/* Timeouts of the session: that of its creation and first connection, then those of later ones. A client object asks for one
 * timeout all its life. So another timeout means another object, to which the session was handed on. */
#ifndef T0
#define T0 6
#endif
#ifndef T1
#define T1 T0
#endif
#ifndef T2
#define T2 T1
#endif

/* The leader pings its followers so often: half of tickTime (Leader.lead). */
#ifndef HALF_TICK
#define HALF_TICK 1
#endif

/* The relay delay. */
#ifndef D
#define D 2
#endif

/* A1: the leader's clock gains at most so much on the client's while a lease lasts. */
#ifndef DRIFT
#define DRIFT 1
#endif

/* What is taken off for that: the library's 2 % and 50 ms. */
#ifndef MARGIN
#define MARGIN DRIFT
#endif

/* The connections of the session, one after the other. With 1, there is no end of them: each takes the place of the last. */
#ifndef CONNECTIONS
#define CONNECTIONS 1
#endif

/* So many leaders are elected, the first included. */
#ifndef LEADERS
#define LEADERS 2
#endif

#define NONE 3

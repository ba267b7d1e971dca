/*
 * The leader's SessionTrackerImpl counts the session's timeout. A follower records touches for it.
 */

/*
 * Time until the session may expire, by the leader's clock. ExpiryQueue rounds up to the next tick, and SessionTrackerImpl.run
 * may be late: the session expires at any later time (Leader, in leader.pml), so every rounding is searched.
 */
byte expiresIn;

/* SessionTrackerImpl.checkSession: requests are accepted only from the server of the latest handshake. */
byte owner = NONE;

#define isClosing (logsClose[leader] || closed)

/* SessionTrackerImpl.touchSession, ExpiryQueue.update: the end moves later, and with a shorter timeout also earlier. */
inline touchSession(s, t) {
  if
  :: s == leader && !isClosing -> expiresIn = t
  :: else
  fi
}

/* ZooKeeperServer.submitRequestNow: touch, with the timeout of the connection. */
inline touch(s, c) {
  if
  :: role[s] == LEADING -> touchSession(s, timeoutOf[c])
  :: else ->
    touchTable[s] = timeoutOf[c];
    lastTouchWasLost[s] = false
  fi
}

/* LeaderZooKeeperServer.checkIfValidGlobalSession: also a touch; then LeaderZooKeeperServer.setOwner. */
inline revalidate(s, from, c) {
  if
  :: s == leader && !isClosing ->
    expiresIn = timeoutOf[c];
    owner = from
  :: else
  fi
}

/* PrepRequestProcessor: checkSession, then a proposal. */
inline propose(s, from, c) {
  if
  :: s == leader && (isClosing || (owner != NONE && owner != from))
  :: else ->
    if
    :: s == leader -> owner = from
    :: else
    fi;
#ifdef MINORITY_COMMITS
    check[c] = Logged
#else
    check[c] = Proposed
#endif
  fi
}

/* Learner.ping: the reply contains the table, and a new table begins. */
inline answerPing(f) {
  down[f]?PING, _;
  if
  :: len(down[f]) == 0 -> pingIsLastIn[f] = false
  :: else
  fi;
  if
  :: touchTable[f] != 0 ->
    toLeader(f, PING, touchTable[f]);
    touchTable[f] = 0
  :: else
  fi
}

/*
 * LearnerSessionTracker.touchSession reads which table is in use, then puts the session there. If Learner.ping takes that table
 * in between, this touch is never relayed. At most one of two consecutive touches is lost this way: this is an assumption.
 */
#ifdef TWO_TOUCHES_LOST
#define mayLose(f) (role[f] == FOLLOWING && down[f]?[PING, _])
#else
#define mayLose(f) (role[f] == FOLLOWING && down[f]?[PING, _] && !lastTouchWasLost[f])
#endif

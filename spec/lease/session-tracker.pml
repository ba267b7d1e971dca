/*
 * Who counts the session's timeout: the leader's SessionTrackerImpl. A follower notes touches for it.
 */

/*
 * Until the session may expire, by the leader's clock. ExpiryQueue rounds up to the next tick, and SessionTrackerImpl.run may be
 * late: the session expires at any time from then on (Leader, in leader.pml), so all ways to round are among what is searched.
 */
byte expiresIn;

/* SessionTrackerImpl.checkSession: requests are taken from the server that came last with a handshake. */
byte owner = NONE;

#define isClosing (logsClose[leader] || closed)

/* SessionTrackerImpl.touchSession, ExpiryQueue.update: the end moves forth, and with a shorter timeout also back. */
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

/* Learner.ping: the answer takes the table along, and a new one begins. */
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
 * LearnerSessionTracker.touchSession reads which table is in use, then puts the session there. When Learner.ping takes that table
 * in between, this touch is never told. Of two touches in a row at most one is lost so: that much is assumed.
 */
#ifdef TWO_TOUCHES_LOST
#define mayLose(f) (role[f] == FOLLOWING && down[f]?[PING, _])
#else
#define mayLose(f) (role[f] == FOLLOWING && down[f]?[PING, _] && !lastTouchWasLost[f])
#endif

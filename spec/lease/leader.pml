/*
 * The leader's side of the link to follower f; s is the leader.
 */
#define s (boss[f])
#define hasPacket(type) (role[s] == LEADING && f != s && epoch[f] == epoch[s] && onTime(s) && up[f]?[type, _])

proctype LearnerHandler(byte f) {
  do
  :: d_step {
      hasPacket(PING) ->
      up[f]?PING, value;
      if
      :: len(up[f]) == 0 -> lastTouchIn[f] = 0
      :: else
      fi;
      touchSession(s, value);
      value = 0;
      printf("leader %d: receives a touch at %d, expires in %d\n", s, f, expiresIn)
    }
  :: d_step { /* Leader.processSync. It may have to wait for outstanding proposals: an earlier reply allows more histories. */
      hasPacket(SYNC) ->
      up[f]?SYNC, value;
      toFollower(f, SYNC, value);
      value = 0;
      printf("leader %d: answers the sync from %d\n", s, f)
    }
  :: d_step {
      hasPacket(CHECK) ->
      up[f]?CHECK, value;
      if
      :: isOpen[value] -> propose(s, f, value)
      :: else
      fi;
      value = 0;
      printf("leader %d: takes the check from %d\n", s, f)
    }
  :: d_step { /* Leader.revalidateSession */
      hasPacket(REVALIDATE) ->
      up[f]?REVALIDATE, value;
      if
      :: s != leader || !isClosing ->
        revalidate(s, f, value);
        toFollower(f, REVALIDATE, value)
      :: else
      fi;
      value = 0;
      printf("leader %d: validates the session for %d, expires in %d\n", s, f, expiresIn)
    }
  od
}

#undef s

/* Followers without clients and touches answer with an empty table. */
#if CONNECTIONS > 2
#define hasClients(f) (at[0] == f && isOpen[0] || at[1] == f && isOpen[1] || at[2] == f && isOpen[2])
#elif CONNECTIONS > 1
#define hasClients(f) (at[0] == f && isOpen[0] || at[1] == f && isOpen[1])
#else
#define hasClients(f) (at[0] == f && isOpen[0])
#endif

inline ping(f) {
  if
  :: touchTable[f] != 0 || hasClients(f) -> toFollower(f, PING, 0)
  :: else
  fi
}

/* The leader in office: the loop of Leader.lead, and the thread of its SessionTrackerImpl. */
proctype Leader() {
  do
  :: d_step { /* LearnerHandler.ping */
      role[leader] == LEADING && !closed && sincePing >= HALF_TICK ->
      sincePing = 0;
      ping(0);
      ping(1);
      ping(2);
      printf("leader %d: pings\n", leader)
    }
  :: d_step { /* setSessionClosing, then ZooKeeperServer.expire, which proposes a closeSession. */
      role[leader] == LEADING && onTime(leader) && !isClosing && expiresIn == 0 ->
      logsClose[leader] = true;
      printf("leader %d: expires the session\n", leader)
    }
  od
}

/* From a check's proposal to its commit; s is the server of its connection. */
#define s (at[c])
#define maySee(f) (check[c] == Proposed && role[f] == FOLLOWING && epoch[f] == epoch[s])

proctype Proposal(byte c) {
  do
  :: d_step {
      maySee(0) || maySee(1) || maySee(2) ->
      check[c] = Logged;
      printf("a follower logs the check\n")
    }
  :: d_step {
      check[c] == Logged && role[s] == LEADING && onTime(s) ->
      check[c] = 0;
      answer(c, CHECK);
      printf("leader %d: commits the check\n", s)
    }
  :: d_step {
      check[c] == Logged && isLinked(s) && onTime(boss[s]) ->
      check[c] = 0;
      toFollower(s, COMMIT, c);
      printf("leader %d: commits the check\n", boss[s])
    }
  od
}

#undef s

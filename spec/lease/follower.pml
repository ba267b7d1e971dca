/*
 * The server's end of connection c; s is the server, a follower or a leader. A leader drops packets of a session that it has
 * let expire (ZooKeeperServer.touch, MissingSessionException).
 */
#define s (at[c])
#define leads(s) (role[s] == LEADING && onTime(s) && !(s == leader && isClosing))
#define hasRequest(type) (isOpen[c] && (role[s] == FOLLOWING || leads(s)) && requests[c]?[type])

/* ZooKeeperServer.processConnectRequest: a server has one connection of a session. */
inline closeOther(s1, c1, c2) {
  if
  :: c1 != c2 -> closeConnection(s1, c2)
  :: else
  fi
}

proctype ServerCnxn(byte c) {
  do
  :: d_step {
      hasRequest(PING) ->
      requests[c]?PING;
      touch(s, c);
      answer(c, PING);
      printf("server %d: is touched\n", s)
    }
  :: d_step { /* Learner.ping takes the table in the middle of touchSession. */
      hasRequest(PING) && mayLose(s) ->
      requests[c]?PING;
      answerPing(s);
      lastTouchWasLost[s] = true;
      answer(c, PING);
      printf("server %d: is touched, but the touch is lost\n", s)
    }
#ifdef AUTH_IS_TOUCH
  :: d_step { /* ZooKeeperServer.processPacket answers by itself. */
      hasRequest(AUTH) ->
      requests[c]?AUTH;
      answer(c, AUTH);
      printf("server %d: answers auth\n", s)
    }
#endif
  :: d_step { /* FollowerRequestProcessor; for the leader's own clients ProposalRequestProcessor */
      hasRequest(SYNC) ->
      requests[c]?SYNC;
      touch(s, c);
      if
      :: role[s] == FOLLOWING -> toLeader(s, SYNC, c)
      :: else -> answer(c, SYNC)
      fi;
      printf("server %d: takes the sync\n", s)
    }
  :: d_step {
      hasRequest(CHECK) ->
      requests[c]?CHECK;
      touch(s, c);
      if
      :: role[s] == FOLLOWING -> toLeader(s, CHECK, c)
      :: else -> propose(s, s, c)
      fi;
      printf("server %d: takes the check\n", s)
    }
  :: d_step { /* ZooKeeperServer.reopenSession, revalidateSession; Learner.validateSession. No touch in the follower's table. */
      hasRequest(CONNECT) ->
      requests[c]?CONNECT;
#if CONNECTIONS > 1
      closeOther(s, c, 0);
      closeOther(s, c, 1);
#endif
#if CONNECTIONS > 2
      closeOther(s, c, 2);
#endif
      if
      :: role[s] == FOLLOWING -> toLeader(s, REVALIDATE, c)
      :: else ->
        revalidate(s, s, c);
        answer(c, CONNECT)
      fi;
      printf("server %d: takes the handshake\n", s)
    }
  od
}

#undef s

/* Follower.processPacket: it handles the leader's packets one by one. */
proctype Learner(byte s) {
  do
  :: d_step {
      role[s] == FOLLOWING && down[s]?[PING, _] ->
      printf("follower %d: answers the ping, touched with %d\n", s, touchTable[s]);
      answerPing(s)
    }
  :: d_step {
      role[s] == FOLLOWING && down[s]?[SYNC, _] ->
      down[s]?SYNC, value;
      answer(value, SYNC);
      value = 0;
      printf("follower %d: hands on the sync's answer\n", s)
    }
  :: d_step {
      role[s] == FOLLOWING && down[s]?[COMMIT, _] ->
      down[s]?COMMIT, value;
      answer(value, CHECK);
      value = 0;
      printf("follower %d: applies the check\n", s)
    }
  :: d_step {
      role[s] == FOLLOWING && down[s]?[REVALIDATE, _] ->
      down[s]?REVALIDATE, value;
      answer(value, CONNECT);
      value = 0;
      printf("follower %d: answers the handshake\n", s)
    }
  :: d_step { /* The quorum is complete: another client may be granted the lock. */
      isLinked(s) && boss[s] == leader && logsClose[leader] && !closed ->
      closed = true;
      expiresIn = 0;
      sincePing = 0;
      printf("follower %d: logs the closeSession\n", s);
      assert(!isHeld);
#ifdef ACTS_LATER
      assert(!acts)
#endif
    }
  od
}

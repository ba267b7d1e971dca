/*
 * A server stops leading or following at any time: no packet for syncLimit, a broken socket, a crash. Two servers that look for
 * a leader elect one; the third may join, or a follower may come back.
 */

byte newest = 0;

/* FastLeaderElection: the newer epoch wins, then the longer log. */
#define mayLead(o) (!closed && s != o && role[s] == LOOKING && role[o] == LOOKING && newest < LEADERS - 1 \
  && epoch[s] >= epoch[o] && (logsClose[s] || !logsClose[o] || epoch[s] > epoch[o]))

/*
 * Leader.startZkServer, once a quorum has acknowledged NEWLEADER: everything in the leader's log is committed. Its
 * SessionTrackerImpl starts from the database, ZKDatabase.sessionsWithTimeouts: a whole timeout for each session, as created.
 */
inline lead(s, o) {
  newest++;
  epoch[s] = newest;
  epoch[o] = newest;
  role[s] = LEADING;
  role[o] = FOLLOWING;
  boss[o] = s;
  boss[s] = s;
  leader = s;
  forget(s);
  forget(o);
  owner = NONE;
  sincePing = 0;
  logsClose[o] = false;
  closed = logsClose[s];
  expiresIn = (closed -> 0 : T0);
  printf("server %d: leads, %d follows\n", s, o);
  assert(!(closed && isHeld))
}

proctype QuorumPeer(byte s) {
  do
  :: d_step { /* Learner.shutdown, Leader.shutdown: closeAllConnections. Packets in flight to a leader may still arrive. */
      role[s] != LOOKING && !closed && newest < LEADERS - 1 ->
      role[s] = LOOKING;
      closeConnection(s, 0);
#if CONNECTIONS > 1
      closeConnection(s, 1);
#endif
#if CONNECTIONS > 2
      closeConnection(s, 2);
#endif
      forgetDown(s);
      if
      :: leader == s ->
        expiresIn = 0;
        sincePing = 0
      :: else
      fi;
      printf("server %d: looks for a leader\n", s)
    }
  :: d_step { /* Learner.syncWithLeader: transactions that the leader lacks are truncated. */
      role[s] == LOOKING && !closed && s != leader && role[leader] == LEADING ->
      role[s] = FOLLOWING;
      boss[s] = leader;
      epoch[s] = epoch[leader];
      logsClose[s] = false;
      forget(s);
      printf("server %d: follows %d\n", s, leader)
    }
  :: d_step { mayLead(0) -> lead(s, 0) }
  :: d_step { mayLead(1) -> lead(s, 1) }
  :: d_step { mayLead(2) -> lead(s, 2) }
  od
}

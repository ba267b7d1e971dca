/*
 * A unit of time passes for the client and for the leader in office; no other clock is compared with anything. Each clock counts
 * from some event, so time has no end, and states that differ only in the date are one state. Once the session is closed, time
 * cannot cause a mistake any more.
 */

/* A1: the leader's clock has gained DRIFT already. A second gain belongs to another lease. */
bool hasGained;

inline passAtClient() {
  if
  :: sinceP < LEASE && !(stage == Ready && !proven) -> sinceP++
  :: else
  fi;
#ifndef TIMER_ONLY
  endLease();
#endif
  if
  :: (stage == Relaying || stage == Both) && sinceAnswers < D -> sinceAnswers++
  :: else
  fi
}

inline passAtLeader(units) {
  if
  :: role[leader] == LEADING ->
    expiresIn = (expiresIn > units -> expiresIn - units : 0);
    sincePing = (sincePing + units > HALF_TICK -> HALF_TICK + 1 : sincePing + units)
  :: else
  fi
}

proctype Clocks() {
  do
  :: d_step {
      !closed ->
      passAtClient();
      passAtLeader(1);
      printf("  a unit passes\n")
    }
#if DRIFT > 0
  :: d_step {
      !closed && !hasGained ->
      hasGained = true;
      passAtClient();
      passAtLeader(1 + DRIFT);
      printf("  a unit passes, and the leader's clock gains\n")
    }
#endif
#ifdef SUSPENDED
  :: d_step {
      !closed ->
      passAtLeader(1);
      printf("  a unit passes, both clocks of the client stand still\n")
    }
#endif
  od
}

/*
 * The client: it makes one proof after the other until it has a lease, and again when that is over. It may be slow at every step.
 *
 * A second proof during a lease is not modelled: to the servers it is only more touches, which cannot harm the first.
 */

mtype = { Ready, One, Both, Relaying, Syncing, Synced, Checking, Connecting, Reconnecting }
mtype stage;

/* A lease was proven; time since p by the client's clock (without a lease: since the p of the current proof). */
bool proven;
byte sinceP;

/* Time since both touches were answered, and how many replies are missing. */
byte sinceAnswers;
byte waiting;

/* The smallest timeout that the session ever had, or that a handshake requested, answered or not. Handed on with the session. */
byte tmin;

#ifdef ACTS_LATER
bool acts;
#endif

/* Only the last client object with the session takes a lease; earlier ones leave touches behind. */
#if T0 == T1 || defined(LEASE_IS_HANDED_ON)
#define takesLease true
#else
#define takesLease (current == CONNECTIONS - 1)
#endif

#define hasAnswer(type) (answers[current]?[type])

inline send(type) {
  if
  :: isOpen[current] ->
    assert(nfull(requests[current]));
    requests[current]!type
  :: else
  fi
}

inline endLease() {
  if
  :: proven && sinceP >= LEASE ->
    proven = false;
    if
    :: stage == Ready -> sinceP = 0
    :: else
    fi
  :: else
  fi
}

inline startOver() {
  stage = Ready;
  sinceAnswers = 0;
  waiting = 0;
  if
  :: proven
  :: else -> sinceP = 0
  fi
}

/* The proof is complete, and may be too late for a lease. */
inline grant() {
  proven = sinceP < LEASE;
  startOver();
  assert(!(closed && isHeld))
}

inline learnTimeout() {
  tmin = (timeoutOf[current] < tmin -> timeoutOf[current] : tmin)
}

/* The client drops a connection that its server still has; another begins with a handshake. */
inline connect() {
  waiting = 0;
  sinceAnswers = 0;
#ifndef LEASE_IS_HANDED_ON
#if CONNECTIONS > 1
  if
  :: timeoutOf[current] != timeoutOf[current - 1] -> proven = false
  :: else
  fi;
#endif
#endif
#if !defined(T_UNANSWERED) && !defined(LEASE_IS_HANDED_ON)
  learnTimeout();
#endif
  if
  :: proven -> stage = Reconnecting
  :: else ->
    stage = Connecting;
    sinceP = 0
  fi;
  isOpen[current] = true;
  send(CONNECT)
}

proctype Holder() {
  do
  :: d_step {
      stage == Ready && !proven && takesLease ->
#if defined(PROVISIONAL)
      send(CHECK);
      stage = Checking;
      printf("client: sends a create\n")
#else
      send(TOUCH);
      waiting = 1;
#if defined(ONE_TOUCH)
      stage = Both;
#else
      stage = One;
#endif
      printf("client: sends a touch\n")
#endif
    }
  :: d_step {
      stage == One ->
      send(TOUCH);
      waiting++;
      stage = Both;
#ifdef LATER_TOUCH
      sinceP = 0;
#endif
      printf("client: sends a second touch\n")
    }
  :: d_step {
      (stage == One || stage == Both) && hasAnswer(TOUCH) ->
      answers[current]?TOUCH;
      waiting--;
#ifdef P_AT_ANSWER
      sinceP = 0;
#endif
      if
      :: stage == Both && waiting == 0 ->
        stage = Relaying;
#ifndef D_FROM_SENDING
        sinceAnswers = 0;
#endif
#ifdef TOUCH_IS_ENOUGH
        grant();
#endif
      :: else
      fi;
      printf("client: receives a touch's answer\n")
    }
  :: d_step {
      stage == Relaying && isRelayed ->
      sinceAnswers = 0;
      stage = afterD;
      if
      :: stage == Syncing -> send(SYNC)
      :: else
      fi;
#ifdef CHECK_WITH_SYNC
      send(CHECK);
#endif
      printf("client: D is over, it syncs\n")
    }
  :: d_step {
      stage == Syncing && hasAnswer(SYNC) ->
      answers[current]?SYNC;
#if defined(NO_CHECK)
      grant();
#elif defined(CHECK_WITH_SYNC)
      stage = Checking;
#else
      stage = Synced;
#endif
      printf("client: receives the sync's answer\n")
    }
  :: d_step {
      stage == Synced && takesLease ->
      send(CHECK);
      stage = Checking;
#ifdef CHECK_NOT_AWAITED
      grant();
#endif
      printf("client: sends the check\n")
    }
  :: d_step {
      stage == Checking && hasAnswer(CHECK) ->
      answers[current]?CHECK;
      grant();
      printf("client: receives the reply to the check, %d after p\n", sinceP)
    }
  :: d_step { /* The proof starts again with other touches. */
      (stage == Relaying || stage == Synced) && takesLease ->
      startOver();
      printf("client: begins anew\n")
    }
#if T0 != T1
  :: d_step {
      stage == Synced && !takesLease ->
      send(PING);
      stage = Ready;
      printf("client: touches, in an earlier life\n")
    }
#endif
#if CONNECTIONS == 1
  :: atomic { /* Packets of the last connection are removed: with the same timeout they can only help. */
      !closed ->
      d_step {
        closeConnection(at[0], 0);
        do
        :: answers[0]?_
        :: empty(answers[0]) -> break
        od;
        forget(0);
        forget(1);
        forget(2);
        connect()
      };
#else
  :: atomic {
      !closed && current < CONNECTIONS - 1 ->
      d_step {
#ifndef ANSWERS_OF_OTHER_CONNECTIONS
        do
        :: answers[current]?_
        :: empty(answers[current]) -> break
        od;
#endif
        current++;
        connect()
      };
#endif
      if
      :: at[current] = 0
      :: at[current] = 1
      :: at[current] = 2
      fi;
#ifdef LOWER_MAXIMUM
      if
      :: at[current] == 2 -> timeoutOf[current] = LOWER_MAXIMUM
      :: else
      fi;
#endif
      printf("client: connects to server %d\n", at[current])
    }
  :: d_step {
      stage == Connecting && hasAnswer(CONNECT) ->
      answers[current]?CONNECT;
      learnTimeout();
      stage = Synced;
#ifdef P_AT_ANSWER
      sinceP = 0;
#endif
#ifdef HANDSHAKE_IS_ENOUGH
      grant();
#endif
      printf("client: is connected\n")
    }
  :: d_step {
      stage == Reconnecting && hasAnswer(CONNECT) ->
      answers[current]?CONNECT;
      learnTimeout();
      endLease();
      startOver();
      printf("client: is connected again\n")
    }
#ifdef TIMER_ONLY
  :: d_step {
      proven && sinceP >= LEASE ->
      endLease();
      printf("client: its timer fires\n")
    }
#endif
#ifdef ACTS_LATER
  :: d_step {
      isHeld && !acts ->
      acts = true;
      printf("client: asks isHeld, and will act\n")
    }
  :: d_step {
      acts ->
      acts = false;
      printf("client: acts\n")
    }
#endif
  od
}

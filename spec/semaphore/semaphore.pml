/*
 * The grants of a semaphore: never more than there are permits.
 *
 * Contenders follow the rule of packages/recipes/src (Line, PermitContender); the ensemble is written from ZooKeeper's own source.
 * README.md lists what is left out. How a contender's own node is created and deleted is the subject of spec/queue.
 */

#ifndef CONTENDERS
#define CONTENDERS 3
#endif
#ifndef PERMITS
#define PERMITS 1         /* All of them are taken at the beginning. */
#endif
#ifndef LOSSES
#define LOSSES 1          /* Number of lost connections. */
#endif
#ifndef OPERATIONS
#define OPERATIONS 1      /* Number of contenders' nodes that an operator deletes. */
#endif
#ifndef WANTED
#define WANTED 1          /* A contender wants 1 to so many permits, all at once. */
#endif
#ifndef RESIZES
#define RESIZES 0         /* 1: another number of permits is stored, at any moment. */
#endif

/* Mistakes that can be planted in the rule: -DMISTAKES=one+another. */
#define event_is_enough    (1 << 0) /* No read shows that the last one ahead has left. */
#define listed_before      (1 << 1) /* That read comes after the list of `leases`. */
#define trusts_own_session (1 << 2) /* No list behind a contender of the own session that had no blocker. */
#define woken_is_next      (1 << 3) /* No list after a wake-up at all. */
#define own_node_unchecked (1 << 4) /* The transaction is executed also if the own node is gone. */
#define behind_accepted    (1 << 5) /* A server accepts a client that has seen later transactions than its own. */
#define number_unchecked   (1 << 6) /* The transaction is executed also if the stored number has changed. */
#define room_for_one       (1 << 7) /* One free permit is room for every contender. */
#ifndef MISTAKES
#define MISTAKES 0
#endif
#define mistake(name) ((MISTAKES & (name)) != 0)

#define SESSIONS 2
#define NOBODY   CONTENDERS
#define NEVER    255

/* --- The ensemble: one history of transactions; the leader has applied all of it, a follower a beginning. ------------ */

byte zxid;                /* The last transaction. */
byte applied;             /* The last transaction that the follower has applied. */

typedef Node {            /* It exists from the transaction `from` until the transaction `to`. */
  byte from;
  byte to
};
Node waiting[CONTENDERS]; /* Below `locks`, in the order of their creation. All exist at the beginning. */
Node taken[CONTENDERS];   /* Below `leases`, by contender. */
Node before[PERMITS];     /* Below `leases`, of those that hold at the beginning. */
byte wanted[CONTENDERS];  /* So many nodes are in taken[]. */

/* The stored number of permits: PERMITS, and from the transaction `resized` on `resized_to`. */
byte resized = NEVER;
byte resized_to;
#define is_resized(z) (resized <= z)
#define stored(z)     (is_resized(z) -> resized_to : PERMITS)

#define in(node, z) (node.from <= z && node.to > z)

mtype:server = { nowhere, leader, follower };

typedef Session {
  mtype:server at;        /* Its connection. */
  byte seen               /* lastZxidSeen, of replies: events have no zxid. */
};
Session session[SESSIONS];

#define connected (session[s].at != nowhere)
#define view      (session[s].at == leader -> zxid : applied)

/* A reply: from now on no server behind it accepts the session. */
inline read() {
  if
  :: view > session[s].seen -> session[s].seen = view
  :: else
  fi
}

/* The reply to a committed request comes when the client's server has applied it. */
inline committed() {
  if
  :: session[s].at == follower && applied < zxid -> applied = zxid
  :: else
  fi;
  read()
}

/* Sets `count` to the number of permits that are taken at zxid z. Sets z back to 0, so that there are fewer states. */
inline count_leases() {
  d_step {
    count = 0;
    for (n : 0 .. PERMITS - 1) {
      if
      :: in(before[n], z) -> count++
      :: else
      fi
    }
    for (n : 0 .. CONTENDERS - 1) {
      if
      :: in(taken[n], z) -> count = count + wanted[n]
      :: else
      fi
    }
    n = 0;
    z = 0
  }
}

byte owner[CONTENDERS];   /* The session of each contender. */
bool is_next[CONTENDERS]; /* Line.isNext: the contender knows of no blocker. */

/* --- The rule ---------------------------------------------------------------------------------------------------- */

proctype Contender(byte me) {
  byte s;                 /* Its session. */
  byte blocker;
  byte ahead;             /* Number of contenders ahead in the last list. */
  byte last = NOBODY;     /* Front.last: the contender whose event made it first. */
  byte count;
  byte n;
  byte z;                 /* For count_leases. */
  byte listed;            /* Number of nodes in the last list of `leases`. */
  bool read_resized;      /* The version of the stored number that was read with it. */
  bool has_room;

  s = owner[me];

listing:
  atomic {
    connected -> read();
    printf("%d lists locks at zxid %d\n", me, view);
    d_step {
      blocker = NOBODY;
      ahead = 0;
      for (n : 0 .. CONTENDERS - 1) {
        if
        :: n < me && in(waiting[n], view) -> blocker = n; ahead++
        :: else
        fi
      }
      n = 0
    }
    if
    :: !in(waiting[me], view) -> goto over
    :: else
    fi;
    if
    :: ahead == 0 -> is_next[me] = true; blocker = 0; goto looking
    :: else
    fi
  }
  atomic {
    connected -> read();
    if
    :: !in(waiting[blocker], view) -> printf("%d reads that %d is gone\n", me, blocker); goto woken
    :: else -> printf("%d watches %d\n", me, blocker)
    fi
  }
  /* The event, or that of setWatches on a later connection. Events of a session may come in any order. */
  atomic {
    connected && !in(waiting[blocker], view) -> printf("%d gets the event of %d\n", me, blocker)
  }

woken:
  atomic {
    if
    :: ahead == 1 || mistake(woken_is_next) ||
       (mistake(trusts_own_session) && owner[blocker] == s && is_next[blocker]) ->
       is_next[me] = true;
       last = blocker;
       blocker = 0;
       ahead = 0
    :: else -> blocker = 0; ahead = 0; goto listing
    fi
  }

looking:
  /* The list comes behind the read, on the same connection or on a later one. */
  atomic {
    if
    :: mistake(listed_before) && last != NOBODY ->
       connected -> read(); z = view; count_leases(); listed = count; count = 0
    :: else
    fi
  }
  atomic {
    if
    :: last == NOBODY || mistake(event_is_enough)
    :: else ->
       connected -> read();
       if
       :: in(waiting[last], view) ->
          printf("%d reads that %d is still there, and commits\n", me, last);
          committed();
          last = NOBODY;
          goto looking
       :: else -> printf("%d reads that %d is gone\n", me, last)
       fi
    fi
  }
  atomic {
    if
    :: mistake(listed_before) && last != NOBODY
    :: else -> connected -> read(); z = view; count_leases(); listed = count
    fi;
    last = NOBODY;
    count = 0;
    printf("%d lists leases at zxid %d\n", me, view)
  }
  /* The number. If it is read before the list it is the same: the transaction fails if it has changed since. */
  atomic {
    connected -> read();
    read_resized = is_resized(view);
    if
    :: wanted[me] > stored(view) -> goto leaving
    :: else
    fi;
    has_room = listed + (mistake(room_for_one) -> 1 : wanted[me]) <= stored(view);
    listed = 0;
    printf("%d reads that there are %d permits\n", me, stored(view));
    if
    :: has_room -> has_room = false
    :: else -> read_resized = false; goto looking
    fi
  }
  atomic {
    connected ->
    if
    :: !in(waiting[me], zxid) && !mistake(own_node_unchecked) -> goto over
    :: else
    fi;
    if
    :: read_resized != is_resized(zxid) && !mistake(number_unchecked) -> read_resized = false; goto looking
    :: else
    fi;
    read_resized = false;
    zxid++;
    if
    :: waiting[me].to == NEVER -> waiting[me].to = zxid
    :: else
    fi;
    taken[me].from = zxid;
    taken[me].to = NEVER;
    printf("%d takes %d, zxid %d\n", me, wanted[me], zxid);
    z = zxid; count_leases();
    assert(count <= stored(zxid));
    count = 0;
    if
    :: committed()
    :: skip             /* Its reply is still under way, or lost. */
    fi
  }
  atomic { zxid++; taken[me].to = zxid; printf("%d releases, zxid %d\n", me, zxid) }
  goto over;

leaving:
  atomic {
    if
    :: waiting[me].to == NEVER -> zxid++; waiting[me].to = zxid; printf("%d leaves, zxid %d\n", me, zxid)
    :: else
    fi
  }

over:
  skip
}

/* --- Everything else that happens ------------------------------------------------------------------------------- */

#define links(i) \
  :: atomic { \
       session[i].at == nowhere -> session[i].at = leader; printf("session %d connects to the leader\n", i) \
     } \
  :: atomic { \
       session[i].at == nowhere && (applied >= session[i].seen || mistake(behind_accepted)) -> \
       session[i].at = follower; \
       printf("session %d connects to the follower, at zxid %d\n", i, applied) \
     } \
  :: atomic { \
       session[i].at != nowhere && losses < LOSSES -> \
       losses++; \
       session[i].at = nowhere; \
       printf("session %d loses its connection\n", i) \
     }

#define operates(i) \
  :: atomic { \
       operations < OPERATIONS && waiting[i].to == NEVER -> \
       operations++; \
       zxid++; \
       waiting[i].to = zxid; \
       printf("the operator deletes the node of %d, zxid %d\n", i, zxid) \
     }

#define ends(i) \
  :: atomic { \
       before[i].to == NEVER -> zxid++; before[i].to = zxid; printf("a first holder releases, zxid %d\n", zxid) \
     }

proctype World() {
  byte losses;
  byte operations;

  do
  :: atomic { applied < zxid -> applied++ }
  links(0)
  links(1)
  operates(0)
  operates(1)
#if CONTENDERS > 2
  operates(2)
#endif
#if CONTENDERS > 3
  operates(3)
#endif
  ends(0)
#if PERMITS > 1
  ends(1)
#endif
#if RESIZES > 0
  :: atomic {
       resized == NEVER ->
       zxid++;
       resized = zxid;
       select(resized_to : 1 .. PERMITS + 1);
       printf("%d permits are stored, zxid %d\n", resized_to, zxid)
     }
#endif
  od
}

init {
  byte n;
  byte s;

  atomic {
    for (n : 0 .. PERMITS - 1) { before[n].to = NEVER }
    for (n : 0 .. SESSIONS - 1) { session[n].at = nowhere }
    for (n : 0 .. CONTENDERS - 1) {
      waiting[n].to = NEVER;
      taken[n].from = NEVER;
      /* Sessions are alike: that of the first contender is session 0. */
      select(s : 0 .. (n == 0 -> 0 : SESSIONS - 1));
      owner[n] = s;
      select(s : 1 .. WANTED);
      wanted[n] = s;
      run Contender(n)
    }
    run World()
  }
}

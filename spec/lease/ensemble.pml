/*
 * Three servers, the links between them, and the connections of the client.
 */

mtype = { PING, AUTH, SYNC, CHECK, CONNECT, REVALIDATE, COMMIT }

/* QuorumPeer: what each server does, in which epoch, under whom. Server 0 leads epoch 0. */
mtype = { LOOKING, FOLLOWING, LEADING }
mtype role[3];
byte epoch[3];
byte boss[3];

/* The leader in office: of the newest epoch. Server 0 may go on leading epoch 0, when no follower is left to it. */
byte leader = 0;

/*
 * Since the leader's last ping, by its clock. A3: D covers the half tick and any stall of the leader. A stall is a time in which
 * a leader does nothing at all, and pings before it does anything else: so `onTime` is a condition of every step of it.
 */
byte sincePing;
#ifdef PING_IS_LATE
#define onTime(s) true
#else
#define onTime(s) (s != leader || closed || sincePing <= HALF_TICK)
#endif

/* closeSession is in the log of these servers. It is closed when it is in two, one of them the leader in office. */
bool logsClose[3];
bool closed;

/*
 * From each follower to its leader (type, connection; of a touch: PING, timeout), and back (type, connection).
 * A packet behind one just like it is left out when it is a PING or a touch. They go together, or the first goes alone and the
 * second brings nothing: to find the session expired where both are sent, one of these does.
 */
chan up[3] = [6] of { mtype, byte };
chan down[3] = [8] of { mtype, byte };
byte lastTouchIn[3];
bool pingIsLastIn[3];

#define isLinked(f) (role[f] == FOLLOWING && epoch[f] == epoch[boss[f]] && role[boss[f]] == LEADING)

inline toLeader(f, type, value) {
  if
  :: isLinked(f) && !(type == PING && lastTouchIn[f] == value) ->
    assert(nfull(up[f]));
    up[f]!type, value;
    lastTouchIn[f] = (type == PING -> value : 0)
  :: else
  fi
}

inline toFollower(f, type, c) {
  if
  :: isLinked(f) && !(type == PING && pingIsLastIn[f]) ->
    assert(nfull(down[f]));
    down[f]!type, c;
    pingIsLastIn[f] = (type == PING)
  :: else
  fi
}

/*
 * The client's connections: where each leads, whether the server still has it, and the timeout that the server agreed to.
 * A server handles what it finds in an old connection too; what it answers there is not heard.
 */
byte current;
byte at[CONNECTIONS] = NONE;
bool isOpen[CONNECTIONS];
byte timeoutOf[CONNECTIONS];
chan requests[CONNECTIONS] = [4] of { mtype };
chan answers[CONNECTIONS] = [4] of { mtype };

inline answer(c, type) {
  if
  :: isOpen[c] && hears(c) ->
    assert(nfull(answers[heardAs(c)]));
    answers[heardAs(c)]!type
  :: else
  fi
}

/*
 * The check of each connection. One step of any follower stands for proposal, log and acknowledgement: nothing else depends on
 * when they travel, and the other follower's links may be quick when those of the client's server are not.
 */
mtype = { Proposed, Logged }
mtype check[CONNECTIONS];

inline closeConnection(s, c) {
  if
  :: at[c] == s && isOpen[c] ->
    isOpen[c] = false;
    check[c] = 0;
    do
    :: requests[c]?_
    :: empty(requests[c]) -> break
    od
  :: else
  fi
}

/* LearnerSessionTracker: touches that were not yet told to the leader; a follower that begins anew has none. */
byte touchTable[3];
bool lastTouchWasLost[3];

inline forgetDown(f) {
  do
  :: down[f]?_, _
  :: empty(down[f]) -> break
  od;
  pingIsLastIn[f] = false;
  touchTable[f] = 0;
  lastTouchWasLost[f] = false
}

inline forget(f) {
  do
  :: up[f]?_, _
  :: empty(up[f]) -> break
  od;
  lastTouchIn[f] = 0;
  forgetDown(f)
}

/* The value of a packet, for the length of one step. */
byte value;

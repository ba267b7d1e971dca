/*
 * Three servers, the links between them, and the connections of the client.
 */

mtype = { PING, AUTH, SYNC, CHECK, CONNECT, REVALIDATE, COMMIT }

/* QuorumPeer: what each server does, in which epoch, and which leader it follows. Server 0 leads epoch 0. */
mtype = { LOOKING, FOLLOWING, LEADING }
mtype role[3];
byte epoch[3];
byte boss[3];

/* The leader in office: of the newest epoch. Server 0 may go on leading epoch 0 without any follower. */
byte leader = 0;

/*
 * Time since the leader's last ping, by its clock. A3: D covers the half tick and any stall of the leader. During a stall a
 * leader does nothing, and after it pings before anything else: so `onTime` is a condition of every step of it.
 */
byte sincePing;
#ifdef PING_IS_LATE
#define onTime(s) true
#else
#define onTime(s) (s != leader || closed || sincePing <= HALF_TICK)
#endif

/* These servers have logged closeSession. The session is closed when two of them have, one of them the leader in office. */
bool logsClose[3];
bool closed;

/*
 * From each follower to its leader (type, connection; for a touch: PING, timeout), and back (type, connection).
 * A PING or a touch directly behind an equal one is left out. Either both take effect together, or the second one changes
 * nothing: if two would find the session expired, one of them does too.
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
 * The client's connections: the server of each, whether the server still has it, and the timeout that the server granted.
 * A server handles requests on an old connection too; the client does not receive its replies.
 */
byte current;
byte at[CONNECTIONS] = NONE;
bool isOpen[CONNECTIONS];
byte timeoutOf[CONNECTIONS];
chan requests[CONNECTIONS] = [4] of { mtype };
chan answers[CONNECTIONS] = [4] of { mtype };

inline answer(c, type) {
  if
  :: isOpen[c] && receives(c) ->
    assert(nfull(answers[receivesOn(c)]));
    answers[receivesOn(c)]!type
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

/* LearnerSessionTracker: touches not yet relayed to the leader; a follower that starts again has none. */
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

/* The value of a packet, within one step. */
byte value;

/*
 * The queue of contenders: which contender is granted a lock, and what is left of the others.
 *
 * Clients acquire once, hold, release. They follow the rule of packages/recipes/src (Contender, ProtectedNodes, Predecessors);
 * the ensemble is written from ZooKeeper's own source. README.md lists what is left out.
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef FAULTS
#define FAULTS 3          /* Number of faults in one history, of any kinds. */
#endif
#ifndef ABORTS
#define ABORTS 1          /* Number of acquires that are aborted or time out. */
#endif

/* Kinds of faults. */
#define lost     1        /* A connection is lost; a write may be in flight on it. */
#define expired  2        /* The leader lets a session expire. */
#define gave_up  4        /* A client that reaches no server considers its session expired. The ensemble lets it expire later. */
#define deposed  8        /* The follower follows a deposed leader. */
#define operated 16       /* An operator deletes a contender's node. */
#ifndef KINDS
#define KINDS (lost + expired + gave_up + deposed + operated)
#endif

/* Mistakes that can be planted in the rule: -DMISTAKES=one+another. */
#define exists_leaves_watch  (1 << 0)  /* A contender waits for a predecessor that was gone before the request. */
#define watch_not_set_again  (1 << 1)  /* A watch is lost with its connection. */
#define granted_on_wake_up   (1 << 2)  /* No committed check after waiting. */
#define woken_is_next        (1 << 3)  /* A woken contender does not check which others are ahead. */
#define ours_was_next        (1 << 21) /* ... if the one that has left is of its own session. */
#define missing_is_first     (1 << 4)  /* A list without the own node counts as one with no node ahead. */
#define owner_ignored        (1 << 5)  /* A node with the right uuid is taken for the own one, with any owner. */
#define uuid_kept            (1 << 6)  /* The contender of the next session keeps the last one's uuid. */
#define not_searched_before  (1 << 7)  /* A create without an answer is repeated at once. */
#define not_searched_behind  (1 << 8)  /* A repeated create that succeeds is taken for the only one. */
#define not_synced           (1 << 9)  /* No sync before the search. */
#define younger_kept         (1 << 10) /* The younger of two own nodes stays. */
#define younger_left         (1 << 11) /* The younger of two own nodes is not deleted. */
#define create_forgotten     (1 << 12) /* A leaving contender does not search for the node of a create without a reply. */
#define not_certain          (1 << 13) /* ... or searches for it without a committed request before. */
#define deleted_once         (1 << 14) /* A delete without an answer is not repeated. */
#define ordered_by_number    (1 << 15) /* Numbers are the order also when the counter is used up. */
#define ordered_by_name      (1 << 16) /* ... or else names are. */
#define later_lists_whole    (1 << 17) /* Every contender in a later list counts as ahead. */
#define behind_accepted      (1 << 18) /* A server accepts a client that has seen later transactions than its own. */
#define one_found_is_enough  (1 << 20)  /* After two creates without a reply, a search that finds one node is not repeated behind a committed request. */
#define former_left          (1 << 22) /* A client that has given its session up takes the nodes of that session for gone. */
#define folder_sent_ahead    (1 << 23) /* A create that was lost together with the creation of the folder is repeated at once. */
#define late_request         (1 << 19) /* A write of a lost connection may be executed after the next handshake. */
#ifndef MISTAKES
#define MISTAKES 0
#endif
#define mistake(name) ((MISTAKES & (name)) != 0)

#ifndef SHARED
#define SHARED 0          /* Whether there are readers, which hold together. */
#endif
#ifndef EXHAUSTED
#define EXHAUSTED 0       /* Whether the counter is used up: all nodes get the same number. */
#endif

#ifndef FOLDER
#define FOLDER 0          /* Whether the folder of the contenders is missing at first, and deleted when it is empty. */
#endif

#define SESSIONS (CLIENTS + FAULTS)
#define ZNODES   (CLIENTS + FAULTS)
#define NOBODY   ZNODES

/* --- The ensemble: one history of transactions; the leader has applied all of it, a follower a beginning. ------------ */

/*
 * Zxids are counted from what the follower has applied: 0 is that and everything before it, 1 is the first transaction that it
 * has not applied. Only transactions that change a node or end a session count.
 */
#define NEVER 255

byte zxid;                /* The last transaction. */
bool cut;                 /* The follower follows a deposed leader: it still answers reads and sync, from its old state. */

typedef Znode {           /* In the order of their creation: their index is their number, while the counter lasts. */
  byte czxid;
  byte dzxid;             /* The transaction that deleted it; NEVER while it exists. */
  byte owner;             /* The session. */
  byte uuid;              /* The prefix of its name. */
  bool reads;             /* It belongs to a reader. */
  bool is_next;           /* Its contender knows that it has no blocker. */
  bool operated_on        /* The operator deleted it. */
};
Znode znode[ZNODES];
byte znodes;
byte standing;            /* Number of existing nodes. */

/* The folder, as the leader has it. Lists do not tell a missing folder from an empty one. */
bool folder;
bool folder_used;         /* It has had a child: servers delete only such containers. */

#define nothing 0
mtype:write = { creating, deleting, making };

typedef Session {
  byte closed;            /* The zxid of its closeSession; NEVER while it lives. */
  bool abandoned;         /* Its client has a newer session. */
  mtype:write limbo;      /* A write sent on a connection that is lost: it may be executed until the next handshake. */
  byte limbo_of;          /* The uuid to create with, or the node to delete. */
  byte whose;              /* Its client. */
  bool reads              /* Whether its client is a reader. */
};
Session session[SESSIONS];
byte sessions;

mtype:server = { nowhere, leader, follower };

typedef ClientState {
  byte session;
  bool reads;             /* A reader; else a writer, or a contender for an exclusive lock. */
  mtype:server at;        /* Its connection. */
  byte seen;              /* lastZxidSeen: no server behind that accepts it. 0: the follower is not behind. */
  bool ended;             /* It was notified, or has decided, that its session is over. */
  bool aborted;
  bool unbroken;          /* Still the connection on which the create was answered. */
  byte node;              /* Its own node. */
  bool watching;
  bool confirmed;         /* Since it last had to wait a committed request has shown its node. */
  bool robbed;            /* The operator deleted the node after that. */
  bool holds;
  bool finished
};
ClientState client[CLIENTS];

byte faults;
byte aborts;
byte n;                   /* Counts; 0 between two steps. */

#define may(kind)      (faults < FAULTS && (KINDS & kind) != 0)

#define mine(i)        session[client[i].session]
#define view(i)        (client[i].at == leader -> zxid : 0)
#define there(k, z)    (znode[k].czxid <= z && znode[k].dzxid > z)
#define exists(k)      (znode[k].dzxid == NEVER)
#define lives(s)       (session[s].closed == NEVER)
#define is_live(i)     lives(client[i].session)

#define reached(i)     (client[i].at != nowhere && mine(i).closed > view(i))
/* The connection leads to the leader that commits, and that leader has the session. */
#define commits(i)     (reached(i) && is_live(i) && !(client[i].at == follower && cut))

#define less(z)        (z == 0 || z == NEVER -> z : z - 1)

/* The follower applies the next transaction; zxids are counted from there now. */
inline apply()
{
  zxid--;
  n = 0;
  do
  :: n < znodes -> znode[n].czxid = less(znode[n].czxid); znode[n].dzxid = less(znode[n].dzxid); n++
  :: else -> break
  od;
  n = 0;
  do
  :: n < sessions -> session[n].closed = less(session[n].closed); n++
  :: else -> break
  od;
  n = 0;
  do
  :: n < CLIENTS -> client[n].seen = less(client[n].seen); n++
  :: else -> break
  od;
  n = 0
}

inline apply_all()
{
  do
  :: zxid > 0 -> apply()
  :: else -> break
  od;
  n = 0
}

/* Only requests to the follower show when it applies transactions. So it does so at a request: any number of them. */
inline catch_up(i)
{
  do
  :: client[i].at == follower && !cut && zxid > 0 && mine(i).closed > 1 -> d_step { apply() }
  :: skip -> break
  od
}

inline disconnect(i)
{
  client[i].at = nowhere;
  client[i].unbroken = false;
  client[i].watching = client[i].watching && !mistake(watch_not_set_again)
}

/* The reply to a read contains the zxid of its server. */
inline read_answered(i)
{
  client[i].seen = (client[i].seen > view(i) -> client[i].seen : view(i))
}

/* A server answers a write when it has applied it. */
inline write_answered(i)
{
  if
  :: client[i].at == follower -> apply_all()
  :: else
  fi;
  client[i].seen = zxid
}

inline forget_limbo(which)
{
  session[which].limbo = nothing;
  session[which].limbo_of = 0
}

inline settle_limbo(i)
{
  if
  :: mistake(late_request)
  :: else -> forget_limbo(client[i].session)
  fi
}

inline commit_create(whose, prefix, reader)
{
  assert(znodes < ZNODES);
  zxid++;
  znode[znodes].czxid = zxid;
  znode[znodes].dzxid = NEVER;
  znode[znodes].owner = whose;
  znode[znodes].uuid = prefix;
  znode[znodes].reads = reader;
  znodes++;
  standing++;
  folder_used = (FOLDER != 0)
}

inline commit_folder()
{
  folder = true
}

inline commit_delete(which)
{
  if
  :: exists(which) -> zxid++; znode[which].dzxid = zxid; standing--
  :: else
  fi
}

/* The ephemeral nodes go in the same transaction. */
inline commit_close(which)
{
  zxid++;
  session[which].closed = zxid;
  forget_limbo(which);
  n = 0;
  do
  :: n < znodes ->
    if
    :: znode[n].owner == which && exists(n) -> znode[n].dzxid = zxid; standing--
    :: else
    fi;
    n++
  :: else -> break
  od;
  n = 0
}

/* A follower of a deposed leader finds the new one: before that it drops its clients. */
proctype Return()
{
end:
  do
  :: d_step {
      cut ->
      cut = false;
      n = 0;
      do
      :: n < CLIENTS && client[n].at == follower -> disconnect(n); n++
      :: n < CLIENTS && client[n].at != follower -> n++
      :: else -> break
      od;
      n = 0
    }
  od
}

/* ContainerManager: an empty folder that has had a child is deleted at some time. */
proctype Containers()
{
end:
  do
  :: d_step { FOLDER && folder && folder_used && standing == 0 -> folder = false; folder_used = false }
  od
}

/* A session that its client has abandoned expires. */
#define expires(s) :: d_step { session[s].abandoned && lives(s) -> commit_close(s) }

proctype Expiry()
{
end:
  do
  expires(0)
  expires(1)
#if SESSIONS > 2
  expires(2)
#endif
#if SESSIONS > 3
  expires(3)
#endif
#if SESSIONS > 4
  expires(4)
#endif
#if SESSIONS > 5
  expires(5)
#endif
#if SESSIONS > 6
  expires(6)
#endif
#if SESSIONS > 7
  expires(7)
#endif
  od
}

/* Handshakes. A write in flight never comes behind one: its session has moved. */
#define connects(i)    (client[i].at == nowhere && !client[i].ended && !client[i].finished)
#define not_behind(i)  (client[i].seen == 0 || mistake(behind_accepted))

proctype Connection(byte i)
{
end:
  do
  :: d_step { connects(i) && !is_live(i) -> client[i].ended = true }
  :: d_step { connects(i) && is_live(i) -> client[i].at = leader; settle_limbo(i) }
  :: atomic { connects(i) && is_live(i) && !cut ->
      do
      :: zxid > 0 -> d_step { apply() }
      :: not_behind(i) -> break
      od;
      client[i].at = follower;
      settle_limbo(i)
    }
  /* A deposed leader keeps its state. */
  :: d_step { connects(i) && mine(i).closed > 0 && cut && not_behind(i) -> client[i].at = follower }
  /* A server that has applied the end of a session closes its connection. */
  :: d_step { client[i].at != nowhere && !client[i].finished && (!reached(i) || (!is_live(i) && !cut)) ->
      if
      :: client[i].at == follower && !cut -> apply_all()
      :: else
      fi;
      disconnect(i)
    }
  /* The client leaves a server that does not answer. */
  :: d_step { client[i].at == follower && !client[i].finished && cut -> disconnect(i) }
  od
}

/* --- The rule. ------------------------------------------------------------------------------------------------------- */

#define listed(k)      there(k, view(i))
/* A node of this client, of any of its sessions: names have uuids. */
#define is_ours(k)     ((znode[k].uuid - 1) % CLIENTS == i)

#define is_ahead(k) \
  (!EXHAUSTED                   -> k < client[i].node : \
  (mistake(ordered_by_number)   -> false : \
  (mistake(ordered_by_name)     -> znode[k].uuid > znode[client[i].node].uuid : ((older >> k) & 1) != 0)))

#define excludes(k)    (!znode[k].reads || !client[i].reads)

/* Predecessors.ahead, Role.blockers: the last of the contenders ahead in this list; for a reader the last writer. */
inline look()
{
  blocker = NOBODY;
  queued = 0;
  k = 0;
  do
  :: k < znodes ->
    if
    :: listed(k) && is_ahead(k) && excludes(k) -> blocker = k; queued = (queued < 2 -> queued + 1 : 2)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0
}

/* The others in this list. */
inline note_others()
{
  older = 0;
  k = 0;
  do
  :: k < znodes ->
    if
    :: k != client[i].node && listed(k) -> older = older | (1 << k)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0
}

/* Queue.byCreation: the recorded contenders that still exist and are older. Names alone do not give the order. */
inline ask_who_is_older()
{
  k = 0;
  do
  :: k < znodes ->
    if
    :: !listed(k) || k > client[i].node -> older = older & ~(1 << k)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0
}

/* ProtectedNodes.#find: own nodes in the list. The oldest stays. */
inline search()
{
  found = NOBODY;
  superfluous = 0;
  k = 0;
  do
  :: k < znodes ->
    if
    :: listed(k) && znode[k].uuid == uuid && (znode[k].owner == client[i].session || mistake(owner_ignored)) ->
      if
      :: found == NOBODY -> found = k
      :: found != NOBODY && mistake(younger_kept) -> superfluous = superfluous | (1 << found); found = k
      :: found != NOBODY && mistake(younger_left)
      :: else -> superfluous = superfluous | (1 << k)
      fi
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0
}

/* One node per attempt, at the place of the first one created. */
inline assert_one_node()
{
  assert(znode[client[i].node].owner == client[i].session);
  assert(mine(i).limbo != creating && mine(i).limbo != making);
  k = 0;
  do
  :: k < znodes ->
    if
    :: k != client[i].node && znode[k].owner == client[i].session ->
      assert(!exists(k));
      assert(znode[k].uuid != uuid || znode[k].operated_on || k > client[i].node)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0
}

/* The lease is not modelled here: a session that is over holds nothing. */
#define is_holder_now(i) (is_live(i) && !client[i].robbed)
#define is_holder(i)     (client[i].holds && is_holder_now(i))

/* The node is its own, a committed request has shown it, no older one is left, and no other contender holds. */
inline grant()
{
  assert(znode[client[i].node].owner == client[i].session);
  k = 0;
  do
  :: k < CLIENTS ->
    assert(k == i || !is_holder(k) || !is_holder_now(i) || (client[k].reads && client[i].reads));
    k++
  :: else -> break
  od;
  assert(client[i].confirmed);
  k = 0;
  do
  :: k < client[i].node -> assert(!exists(k) || !excludes(k)); k++
  :: else -> break
  od;
  k = 0;
  queued = 0;
  older = 0;
  client[i].unbroken = false;
  client[i].holds = true
}

inline assert_nothing_left()
{
  assert(mine(i).limbo != creating && mine(i).limbo != making);
  k = 0;
  do
  :: k < znodes -> assert(!is_ours(k) || !exists(k)); k++
  :: else -> break
  od;
  k = 0
}

/*
 * Remnants: the client deletes what its former sessions have left, in the next session. Names with its uuids are its own. (A create
 * that is executed behind this is left out: see late-request.)
 */
inline delete_former()
{
  k = 0;
  do
  :: k < znodes ->
    if
    :: is_ours(k) && znode[k].owner != client[i].session -> commit_delete(k)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0;
  do
  :: k < sessions ->
    if
    :: session[k].abandoned && session[k].whose == i && session[k].limbo != deleting -> forget_limbo(k)
    :: else
    fi;
    k++
  :: else -> break
  od;
  k = 0;
  write_answered(i)
}

/* What comes after a search. */
mtype:purpose = { before_repeating, behind_the_create, for_certain };

proctype Contender(byte i)
{
  byte uuid;              /* The same for every create of an attempt. */
  byte unanswered;        /* Number of creates without a reply: 0, 1, or more. */
  mtype:purpose search_is;
  byte found, blocker, queued, k;
  bool must_delete;       /* It has given a session up whose nodes it has not deleted yet. */
  short superfluous, older;

queue_up:                 /* A new contender in every session. */
  atomic {
    uuid = (uuid == 0 -> i + 1 : (mistake(uuid_kept) -> uuid : uuid + CLIENTS));
    client[i].node = NOBODY;
    client[i].confirmed = false;
    client[i].robbed = false;
    client[i].unbroken = false;
    unanswered = 0; search_is = 0; found = NOBODY; blocker = NOBODY; queued = 0; superfluous = 0; older = 0
  }

create:
  if
  :: client[i].ended -> goto session_over
  :: atomic { commits(i) && !folder -> write_answered(i); client[i].unbroken = false; goto folder_missing }
  :: atomic {
      commits(i) && folder ->
      d_step {
        commit_create(client[i].session, uuid, client[i].reads);
        found = znodes - 1;
        write_answered(i);
        client[i].unbroken = true
      };
      if
      :: unanswered > 0 && !mistake(not_searched_behind) -> search_is = behind_the_create; goto find
      :: else -> goto found_it
      fi
    }
  :: atomic {
      reached(i) && client[i].at == follower && cut -> disconnect(i); goto create_unanswered
    }
  :: atomic {
      reached(i) && !(client[i].at == follower && cut) && may(lost) ->
      d_step { faults++; mine(i).limbo = creating; mine(i).limbo_of = uuid; disconnect(i) };
      goto create_unanswered
    }
  fi;

folder_missing:
  if
  :: atomic { client[i].aborted && unanswered == 0 -> goto gone }
  :: atomic { client[i].aborted && unanswered > 0 -> goto find_for_certain }
  :: atomic { !client[i].aborted }
  fi;

make_folder:              /* One segment has the creation of the folder and, behind it, the create. */
  if
  :: client[i].ended -> goto session_over
  :: atomic { commits(i) -> commit_folder(); write_answered(i); goto create }
  :: atomic {
      reached(i) && client[i].at == follower && cut -> disconnect(i); goto segment_unanswered
    }
  :: atomic {
      reached(i) && !(client[i].at == follower && cut) && may(lost) ->
      d_step { faults++; mine(i).limbo = making; mine(i).limbo_of = uuid; disconnect(i) };
      goto segment_unanswered
    }
  fi;

segment_unanswered:
  if
  :: atomic { mistake(folder_sent_ahead) -> goto not_found }
  :: atomic { !mistake(folder_sent_ahead) }
  fi;

create_unanswered:
  atomic {
    unanswered = (unanswered == 0 -> 1 : 2);
    if
    :: client[i].aborted && mistake(create_forgotten) -> goto finish
    :: mistake(not_searched_before) -> goto not_found
    :: else -> search_is = before_repeating
    fi
  };

find:                     /* sync, list, and the owners of the nodes. A deposed leader answers a sync too. */
  if
  :: client[i].ended -> goto session_over
  :: atomic {
      reached(i) && (is_live(i) || cut || mistake(not_synced)) ->
      catch_up(i);
      if
      :: client[i].at == follower && !cut && !mistake(not_synced) -> d_step { apply_all() }
      :: else
      fi;
      read_answered(i);
      search();
      if
      /* With two creates there may be a second node that this server has not applied. */
      :: found != NOBODY && search_is == before_repeating && unanswered > 1 && !mistake(one_found_is_enough) ->
        found = NOBODY;
        superfluous = 0;
        goto find_for_certain
      :: found != NOBODY && (search_is != before_repeating || unanswered == 1 || mistake(one_found_is_enough)) -> goto found_it
      :: found == NOBODY && search_is == before_repeating -> goto not_found
      :: found == NOBODY && search_is == behind_the_create -> goto vanished
      :: found == NOBODY && search_is == for_certain && client[i].aborted -> goto gone
      :: found == NOBODY && search_is == for_certain && !client[i].aborted -> goto create
      fi
    }
  fi;

not_found:
  if
  :: atomic { !client[i].aborted -> goto create }
  :: atomic { client[i].aborted && mistake(not_certain) -> goto gone }
  :: atomic { client[i].aborted && !mistake(not_certain) }
  fi;

find_for_certain:         /* Behind a committed request, which a deposed leader cannot answer. */
  if
  :: client[i].ended -> goto session_over
  :: atomic { commits(i) -> write_answered(i); search_is = for_certain; goto find }
  fi;

found_it:
  if
  :: client[i].ended -> goto session_over
  :: atomic {
      superfluous != 0 && commits(i) ->
      d_step {
        k = 0;
        do
        :: ((superfluous >> k) & 1) == 0 -> k++
        :: else -> break
        od;
        commit_delete(k);
        write_answered(i);
        superfluous = superfluous & ~(1 << k);
        k = 0
      };
      goto found_it
    }
  :: atomic {
      superfluous == 0 ->
      d_step {
        client[i].node = found;
        found = NOBODY;
        unanswered = 0;
        client[i].confirmed = client[i].unbroken;
        assert_one_node()
      };
      if
      :: search_is == for_certain && client[i].aborted -> search_is = 0; goto leave
      :: else -> search_is = 0
      fi
    }
  fi;

first_list:
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic {
      reached(i) ->
      catch_up(i);
      read_answered(i);
      if
      :: !listed(client[i].node) && !mistake(missing_is_first) -> goto vanished
      :: !listed(client[i].node) && mistake(missing_is_first) -> blocker = NOBODY
      :: listed(client[i].node) && EXHAUSTED -> note_others(); goto join
      :: listed(client[i].node) && !EXHAUSTED -> look()
      fi;
      goto first_look
    }
  fi;

join:                     /* Predecessors, when numbers do not give the age. */
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic { reached(i) -> catch_up(i); read_answered(i); ask_who_is_older(); look() }
  fi;

first_look:
  atomic {
    if
    :: blocker != NOBODY -> goto wait
    :: blocker == NOBODY -> znode[client[i].node].is_next = !SHARED
    fi;
    if
    :: !client[i].unbroken -> goto confirm
    :: client[i].unbroken -> goto granted
    fi
  };

wait:                     /* getData with a watch: it leaves none on a node that is gone. */
  atomic {
    assert(!is_ours(blocker));
    client[i].confirmed = false;
    client[i].unbroken = false
  };
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic {
      reached(i) ->
      catch_up(i);
      read_answered(i);
      if
      :: listed(blocker) -> client[i].watching = true
      :: !listed(blocker) && !mistake(exists_leaves_watch) -> goto woken
      :: !listed(blocker) && mistake(exists_leaves_watch) -> client[i].watching = false
      fi
    }
  fi;

  /* Set again on the next connection, a watch of a missing node fires at once. */
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic {
      client[i].watching && reached(i) && (client[i].at == follower && cut -> !listed(blocker) : znode[blocker].dzxid < mine(i).closed) ->
      do
      :: listed(blocker) -> d_step { apply() }
      :: else -> break
      od;
      goto woken
    }
  fi;

woken:
  atomic {
    client[i].watching = false;
    if
    :: (queued == 1 && !SHARED) || mistake(woken_is_next) -> goto next
    /* A contender of its own session, which has left: nobody was ahead of it. */
    :: znode[blocker].is_next || mistake(ours_was_next) -> goto next
    :: (queued != 1 || SHARED) && !mistake(woken_is_next) -> blocker = NOBODY
    fi
  };

look_again:
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic {
      reached(i) ->
      catch_up(i);
      read_answered(i);
      if
      :: !listed(client[i].node) && !mistake(missing_is_first) -> goto vanished
      :: !listed(client[i].node) && mistake(missing_is_first) -> blocker = NOBODY
      :: listed(client[i].node) && mistake(later_lists_whole) -> note_others(); look()
      :: else -> look()
      fi;
      znode[client[i].node].is_next = (blocker == NOBODY && !SHARED);
      goto confirm
    }
  fi;

next:
  atomic { blocker = NOBODY; znode[client[i].node].is_next = !SHARED };

confirm:                  /* multi with a check of the own node. */
  if
  :: client[i].ended -> goto session_over
  :: client[i].aborted -> goto leave
  :: atomic { mistake(granted_on_wake_up) && blocker == NOBODY -> goto granted }
  :: atomic {
      commits(i) ->
      write_answered(i);
      if
      :: !exists(client[i].node) && !mistake(missing_is_first) -> goto vanished
      :: else -> client[i].confirmed = true
      fi;
      if
      :: blocker == NOBODY -> goto granted
      :: else -> goto wait
      fi
    }
  fi;

granted:
  atomic { grant() };

  if                      /* Until it releases, or its session is over. */
  :: client[i].ended -> goto session_over
  :: goto leave
  fi;

leave:
  atomic { client[i].holds = false; client[i].confirmed = false; client[i].unbroken = false; client[i].watching = false; blocker = NOBODY; queued = 0; older = 0 };
  if
  :: client[i].ended -> client[i].aborted = true; goto session_over
  :: atomic { commits(i) -> d_step { commit_delete(client[i].node); write_answered(i) }; goto gone }
  :: atomic {
      reached(i) && may(lost) ->
      d_step { faults++; mine(i).limbo = deleting; mine(i).limbo_of = client[i].node; disconnect(i) };
      if
      :: mistake(deleted_once) -> goto gone
      :: else -> goto leave
      fi
    }
  fi;

vanished:
  atomic {
    if
    :: client[i].aborted -> goto gone
    :: else -> goto queue_up
    fi
  };

session_over:
  if
  /* A server has said that the session is over: its nodes are gone. */
  :: atomic { (client[i].holds || client[i].aborted) && (!mine(i).abandoned || mistake(former_left)) -> goto finish }
  :: atomic {
      (!client[i].holds && !client[i].aborted) || (mine(i).abandoned && !mistake(former_left)) ->
      d_step {
        client[i].aborted = client[i].aborted || client[i].holds;
        client[i].holds = false;
        client[i].watching = false;
        must_delete = must_delete || mine(i).abandoned;
        assert(sessions < SESSIONS);
        client[i].session = sessions;
        session[sessions].closed = NEVER;
        session[sessions].reads = client[i].reads;
        session[sessions].whose = i;
        sessions++;
        client[i].ended = false;
        client[i].seen = 0
      };
      if
      :: client[i].at = leader
      :: !cut -> client[i].at = follower; d_step { apply_all() }
      fi;
      if
      :: must_delete && !mistake(former_left) -> goto former
      :: else -> must_delete = false; goto queue_up
      fi
    }
  fi;

former:                   /* Its last session may live on at the ensemble. */
  if
  :: client[i].ended -> goto session_over
  :: atomic {
      commits(i) ->
      d_step { delete_former(); must_delete = false };
      if
      :: client[i].aborted -> goto gone
      :: else -> goto queue_up
      fi
    }
  fi;

gone:
  atomic { assert_nothing_left() };

finish:
  atomic {
    client[i].holds = false;
    client[i].aborted = false;
    client[i].ended = false;
    client[i].confirmed = false;
    client[i].robbed = false;
    client[i].unbroken = false;
    client[i].watching = false;
    client[i].node = NOBODY;
    client[i].at = nowhere;
    client[i].seen = 0;
    client[i].finished = true;
    must_delete = false
  }
}

/* --- What goes wrong. ------------------------------------------------------------------------------------------------ */

#define strikes(i) \
  :: d_step { may(lost) && client[i].at != nowhere -> faults++; disconnect(i) } \
  :: d_step { may(expired) && is_live(i) && !client[i].finished -> faults++; commit_close(client[i].session) } \
  :: d_step { may(gave_up) && connects(i) -> faults++; client[i].ended = true; mine(i).abandoned = true } \
  :: d_step { may(operated) && !client[i].finished && client[i].node != NOBODY && exists(client[i].node) -> \
      faults++; \
      commit_delete(client[i].node); \
      znode[client[i].node].operated_on = true; \
      client[i].robbed = client[i].confirmed \
    } \
  :: d_step { aborts < ABORTS && !client[i].aborted && !client[i].holds && !client[i].finished -> aborts++; client[i].aborted = true }

proctype Misfortune()
{
end:
  do
  strikes(0)
  strikes(1)
#if CLIENTS > 2
  strikes(2)
#endif
  :: atomic { may(deposed) && !cut ->
      do
      :: zxid > 0 -> d_step { apply() }
      :: skip -> break
      od;
      faults++;
      cut = true
    }
  /* It may stop at any time: the rule does not depend on it. */
  :: d_step { faults < FAULTS -> faults = FAULTS }
  :: d_step { aborts < ABORTS -> aborts = ABORTS }
  od
}

/* A write of a lost connection is executed late, or never; after the end of its session, or without the folder, it is refused. */
#define late(s) \
  :: d_step { session[s].limbo == making && lives(s) -> commit_folder(); session[s].limbo = creating } \
  :: d_step { session[s].limbo == creating && lives(s) && folder -> commit_create(s, session[s].limbo_of, session[s].reads); forget_limbo(s) } \
  :: d_step { session[s].limbo == deleting && lives(s) -> commit_delete(session[s].limbo_of); forget_limbo(s) } \
  :: d_step { session[s].limbo != nothing -> forget_limbo(s) }

proctype Limbo()
{
end:
  do
  late(0)
  late(1)
#if SESSIONS > 2
  late(2)
#endif
#if SESSIONS > 3
  late(3)
#endif
#if SESSIONS > 4
  late(4)
#endif
#if SESSIONS > 5
  late(5)
#endif
#if SESSIONS > 6
  late(6)
#endif
#if SESSIONS > 7
  late(7)
#endif
  od
}

#if CLIENTS > 2
#define all_finished (client[0].finished && client[1].finished && client[2].finished)
#else
#define all_finished (client[0].finished && client[1].finished)
#endif

/* No process stops before every acquire has ended and nothing remains of it. */
proctype Standstill()
{
end:
  timeout -> assert(all_finished && standing == 0)
}

init
{
  atomic {
    sessions = CLIENTS;
    n = 0;
    do
    :: n < CLIENTS ->
      client[n].session = n;
      session[n].closed = NEVER;
      session[n].whose = n;
      client[n].node = NOBODY;
      client[n].at = leader;
      if
      :: SHARED -> client[n].reads = true; session[n].reads = true
      :: skip
      fi;
      run Contender(n);
      run Connection(n);
      n++
    :: else -> break
    od;
    n = 0;
    folder = (FOLDER == 0);
    run Return();
#if FOLDER
    run Containers();
#endif
    run Expiry();
    run Misfortune();
    run Limbo();
    run Standstill()
  }
}

/* No process loops for ever: every process that can go on does so, and faults stop at some time. */
#ifdef LIVENESS
/* Time passes when no other step is possible. */
bool tick;

active proctype Time()
{
end:
  do
  :: tick = !tick
  od
}

ltl comes_to_an_end { <>[] (all_finished && standing == 0) }
#endif

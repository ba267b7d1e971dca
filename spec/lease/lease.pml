/*
 * The lease of a lock, and the part of ZooKeeper that it rests on.
 *
 * A client holds a lock in a session, and isHeld() is true while its lease lasts. Another client is granted the lock as soon as
 * the session is closed: when a quorum has logged the closeSession of a leader in office. The leader's SessionTracker decides
 * when, and the client cannot see that. So the client computes a moment before which it cannot happen.
 *
 *   Never: isHeld, and the session is closed.
 *
 * Each file has one subject. Every d_step is one step of one process. Steps interleave in every way, and time may pass between
 * any two: so every process may stall for any time, and so may every link, each way alone. Links lose nothing and keep the
 * order. One step has a deadline: a leader with an overdue ping does nothing else before it (A3; see ensemble.pml).
 */

#include "parameters.pml"
#include "rule.pml"
#include "ensemble.pml"
#include "session-tracker.pml"
#include "holder.pml"
#include "leader.pml"
#include "follower.pml"
#include "quorum-peer.pml"
#include "clocks.pml"

/*
 * The leader has just received the createSession (PrepRequestProcessor), and counts T0 from now. The client is at the leader or
 * at a follower; followers are alike. Each follower puts the session into its touch table when it applies the transaction
 * (LearnerSessionTracker.commitSession). While all timeouts are the same such a touch can only help, and is left out.
 */
init {
  atomic {
    role[0] = LEADING;
    role[1] = FOLLOWING;
    role[2] = FOLLOWING;
    expiresIn = T0;
    timeoutOf[0] = T0;
#if CONNECTIONS > 1
    timeoutOf[1] = T1;
#endif
#if CONNECTIONS > 2
    timeoutOf[2] = T2;
#endif
#if T0 != T1
    touchTable[1] = T0;
    touchTable[2] = T0;
#endif
    isOpen[0] = true;
    if
    :: at[0] = 0
    :: at[0] = 1
    fi;
    do
    :: sincePing < HALF_TICK -> sincePing++
    :: break
    od;
    tmin = T0;
    stage = Synced;

    run Holder();
    run ServerCnxn(0);
    run Proposal(0);
#if CONNECTIONS > 1
    run ServerCnxn(1);
    run Proposal(1);
#endif
#if CONNECTIONS > 2
    run ServerCnxn(2);
    run Proposal(2);
#endif
    run Learner(0);
    run Learner(1);
    run Learner(2);
    run LearnerHandler(0);
    run LearnerHandler(1);
    run LearnerHandler(2);
    run Leader();
    run QuorumPeer(0);
    run QuorumPeer(1);
    run QuorumPeer(2);
    run Clocks();
  }
}
